"""The exact prototype of every exported driver symbol, read from the toolkit's headers.

The headers rename functions by macro (cuMemAlloc is cuMemAlloc_v2). Preprocessed with
__CUDA_API_VERSION_INTERNAL they declare every version and stream flavour under its exported name, so the
preprocessor's output, not the header's text, is what is read.
"""

import dataclasses
import re
import subprocess

HEADERS = ("cuda.h", "cudaProfiler.h")
HEADER_MODE = ("-D__CUDA_API_VERSION_INTERNAL", "-D__CUDA_API_VERSION_INTERNAL_ODR")


@dataclasses.dataclass(frozen=True)
class Parameter:
    type: str
    name: str


@dataclasses.dataclass(frozen=True)
class Signature:
    parameters: tuple

    @property
    def declaration(self):
        return ", ".join(f"{p.type} {p.name}".replace("* ", "*") for p in self.parameters) or "void"

    @property
    def arguments(self):
        return ", ".join(p.name for p in self.parameters)


class SignatureError(Exception):
    pass


def preprocess(compiler, include_folder):
    source = "".join(f"#include <{header}>\n" for header in HEADERS)
    command = [*compiler, "-E", "-P", "-x", "c++", "-isystem", include_folder, *HEADER_MODE, "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SignatureError(f"the CUDA headers do not preprocess:\n{done.stderr}")
    return done.stdout


def _parse_parameter(text, symbol):
    match = re.fullmatch(r"(.*?[\s*])(\w+)", text.strip(), re.DOTALL)
    if not match:
        raise SignatureError(f"{symbol}: cannot read the parameter '{text.strip()}'")
    return Parameter(" ".join(match[1].split()), match[2])


def parse(preprocessed):
    """symbol -> Signature for every `CUresult cuName(...);` in the text."""
    signatures = {}
    for match in re.finditer(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(([^(){};]*)\)\s*;", preprocessed):
        symbol, text = match.groups()
        parameters = () if text.strip() in ("", "void") else tuple(
            _parse_parameter(part, symbol) for part in text.split(","))
        signature = Signature(parameters)
        if signatures.setdefault(symbol, signature) != signature:
            raise SignatureError(f"{symbol} is declared twice, differently")
    return signatures


def read(compiler, include_folder, symbols):
    signatures = parse(preprocess(compiler, include_folder))
    missing = [symbol for symbol in symbols if symbol not in signatures]
    if missing:
        raise SignatureError("no prototype in the headers for: " + ", ".join(missing))
    return {symbol: signatures[symbol] for symbol in symbols}
