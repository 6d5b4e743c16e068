"""The README's table of doors is the one made from interpose/cuda.hooks. Usage: readme_test.py README TABLE"""

import pathlib
import sys

readme, table = (pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
if table not in readme:
    sys.exit(f"README.md lacks this table, from interpose/cuda.hooks:\n{table}")
