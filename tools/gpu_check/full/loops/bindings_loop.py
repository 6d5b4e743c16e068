"""The example python_mlp where NVIDIA's cuda.bindings is installed."""

import sys

try:
    import cuda.bindings.driver  # noqa: F401
except ImportError:
    print("cuda.bindings is not installed here")
    sys.exit(77)

import train

if __name__ == "__main__":
    train.main()
