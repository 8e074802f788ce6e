#!/usr/bin/env python3
# Writes the rows of Parquet files as lines of JSON, which maxplus reads ([data] train and eval). Needs pyarrow.
#
#   tools/parquet_to_jsonl.py train.parquet -o train.jsonl
#
# --help says more.
import argparse
import base64
import datetime
import decimal
import sys

from json_lines import fail, plain, writer

HELP = """Writes the rows of Parquet files as lines of JSON, one object a row, which maxplus reads.

Nested columns stay nested, so a file of verl becomes what [data] preset = "verl" reads:

    tools/parquet_to_jsonl.py ~/data/gsm8k/train.parquet -o train.jsonl

    [data]
    train = "train.jsonl"
    preset = "verl"

Presets: verl, trl, openrlhf, gsm8k, countdown, reasoning_gym; for other files prompt_key, answer_key and id_key name the fields.
Times are written as ISO 8601, decimals as text, bytes as text where they are UTF-8 and in base64 elsewhere, and what is no number
as null. Rows are read in pieces, so a file may be larger than memory."""


def other(value):
    """What a type of Arrow that JSON has no form for becomes."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(value).decode("ascii")
    if isinstance(value, (decimal.Decimal, datetime.timedelta)):
        return str(value)
    raise TypeError(f"a value of type {type(value).__name__}")


def rows(parquet, names, columns):
    for name in names:
        try:
            file = parquet.ParquetFile(name)
        except FileNotFoundError:
            fail(66, f"there is no file '{name}'", "check the path")
        except Exception as error:
            fail(65, f"'{name}' cannot be read as Parquet: {error}", "a file that ends in .parquet, not a folder or a link to one")
        missing = [column for column in columns or [] if column not in file.schema_arrow.names]
        if missing:
            fail(64, f"'{name}' has no column '{missing[0]}'", "one of " + ", ".join(file.schema_arrow.names))
        for batch in file.iter_batches(batch_size=1024, columns=columns):
            yield from batch.to_pylist()


def main():
    parser = argparse.ArgumentParser(description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="Parquet files; their rows are written one file after the other")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to write (default: standard output)")
    parser.add_argument("--columns", metavar="A,B", help="only these columns")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N rows of all")
    arguments = parser.parse_args()
    try:
        from pyarrow import parquet
    except ImportError:
        fail(69, "pyarrow is not installed for this Python", f"{sys.executable} -m pip install pyarrow")

    columns = arguments.columns.split(",") if arguments.columns else None
    count = 0
    with writer(arguments.output) as write:
        for row in rows(parquet, arguments.files, columns):
            if arguments.limit is not None and count >= arguments.limit:
                break
            write(plain(row, other))
            count += 1
    print(f"{count} rows" + (f" in {arguments.output}" if arguments.output else ""), file=sys.stderr)


if __name__ == "__main__":
    main()
