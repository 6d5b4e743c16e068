"""usage: no_constructors.py LIBRARY.a : its objects have no load-time constructors, for the preload links them."""
import subprocess
import sys

headers = subprocess.run(["readelf", "-SW", sys.argv[1]], capture_output=True, text=True, check=True).stdout
offenders = [line for line in headers.splitlines() if ".init_array" in line or ".ctors" in line]
print("1..1")
print("not ok" if offenders or ".text" not in headers else "ok", "- no constructors in", sys.argv[1])
for line in offenders:
    print("#", line)
