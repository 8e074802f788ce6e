"""What the converters of this folder share: values that JSON has, a file written to its end or not at all, and errors."""
import contextlib
import json
import math
import os
import sys


def fail(code, found, advice):
    program = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    print(f"{program}: error: {found}\n  try: {advice}", file=sys.stderr)
    sys.exit(code)


def plain(value, other):
    """The value in types that JSON has, what is no number as null; `other` says what a type becomes that is none of Python's own."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(inner, other) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner, other) for inner in value]
    return other(value)


@contextlib.contextmanager
def writer(output):
    """A function that writes an object as a line, to the file of that name or to standard output where there is none."""
    partial = output + ".partial" if output else None
    out = open(partial, "w", encoding="utf-8", newline="\n") if partial else sys.stdout
    try:
        yield lambda row: out.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
        out.flush()
        if partial:
            out.close()
            os.replace(partial, output)
    finally:
        if partial and os.path.exists(partial):
            out.close()
            os.remove(partial)
