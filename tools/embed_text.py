"""Turns a text file into a C++ constant: embed_text.py SYMBOL INPUT OUTPUT."""

import sys

CHUNK = 8000  # string literals have a length the language guarantees; neighbours are joined by the compiler


def main():
    symbol, source, target = sys.argv[1:4]
    with open(source, encoding="utf-8") as file:
        text = file.read().rstrip("\0")
    pieces = [text[i:i + CHUNK] for i in range(0, len(text), CHUNK)]
    with open(target, "w", encoding="utf-8") as file:
        file.write(f'extern "C" const char {symbol}[];\nextern "C" const char {symbol}[] =\n')
        file.write("\n".join(f'R"embedded({piece})embedded"' for piece in pieces) + ";\n")


if __name__ == "__main__":
    main()
