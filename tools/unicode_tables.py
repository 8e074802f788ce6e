#!/usr/bin/env python3
# Writes the tables of Unicode that tokenizers need:
#
#   src/text/unicode_categories.cpp     general category and White_Space of every code point, as runs
#   src/text/unicode_decompositions.cpp canonical decompositions
#   src/text/unicode_combining.cpp      combining classes, and what never composes
#
# They were made with unicodedata2 16.0.0, because that is the Unicode version of the tokenizers library 0.23, whose ids
# published models were trained on. Usage: tools/unicode_tables.py  (pip install unicodedata2==16.0.0)
import os
import sys

try:
    import unicodedata2 as unicodedata
except ImportError:
    sys.exit("unicode_tables: unicodedata2 is missing\n  try: pip install unicodedata2==16.0.0")

LAST = 0x110000
HANGUL = range(0xAC00, 0xD7A4)  # composed by arithmetic
SPACES = {0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F,
          0x205F, 0x3000}  # the property White_Space
CATEGORIES = ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn").split()


def lines_of(items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 118:
            lines.append(line)
            line = "   "
        line += " " + item + ","
    return "\n".join(lines + [line])


def runs(value_of):
    found, before = [], None
    for code in range(LAST):
        value = value_of(code)
        if value != before:
            found.append((code, value))
            before = value
    return found


def write(name, head, tables):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "text", name)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"// Written by tools/unicode_tables.py from Unicode {unicodedata.unidata_version}; do not edit.\n")
        file.write(f'// {head}\n#include "text/unicode_tables.hpp"\n\nnamespace maxplus::unicode {{\n\n// clang-format off\n')
        for kind, table, items in tables:
            file.write(f"const {kind} {table}[] = {{\n{lines_of(items)}\n}};\n")
            file.write(f"const std::size_t {table}Count = sizeof {table} / sizeof {table}[0];\n\n")
        file.write("// clang-format on\n\n}  // namespace maxplus::unicode\n")


def main():
    def category(code):
        return CATEGORIES.index(unicodedata.category(chr(code))) | (32 if code in SPACES else 0)

    write("unicode_categories.cpp", "Each entry is (first code point of a run) * 64 + white space * 32 + category.",
          [("std::uint32_t", "kCategoryRuns", [str(first * 64 + value) for first, value in runs(category)])])

    pairs, never = [], []
    for code in range(LAST):
        text = unicodedata.decomposition(chr(code))
        if not text or text.startswith("<") or code in HANGUL:
            continue
        parts = [int(part, 16) for part in text.split()]
        pairs.append("{%d, %d, %d}" % (code, parts[0], parts[1] if len(parts) > 1 else 0))
        if len(parts) > 1 and unicodedata.normalize("NFC", chr(code)) != chr(code):
            never.append("0x%X" % code)
    classes = runs(lambda code: unicodedata.combining(chr(code)))
    write("unicode_decompositions.cpp", "Code point, first and second part (0: there is none); one step each.",
          [("Decomposition", "kDecompositions", pairs)])
    write("unicode_combining.cpp", "A class entry is (first code point of a run) * 256 + class.",
          [("std::uint32_t", "kNeverComposed", never),
           ("std::uint32_t", "kCombiningRuns", [str(first * 256 + value) for first, value in classes])])


if __name__ == "__main__":
    main()
