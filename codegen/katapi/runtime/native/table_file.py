"""The tables of a compiled encoder in one file: a line of JSON that names them, then the tables themselves.

    {"version": 3, "tables": [["ids", 606572, 2774180271], …]}

The numbers are the length of a table in bytes and its CRC-32. Behind the line break the tables follow one another.
"""

from __future__ import annotations

import binascii
import json
from pathlib import Path

VERSION = 3
"""Of the format and of the tables. Whoever changes what they mean counts it up."""
_LONGEST_LINE = 1 << 16


def table_file(tables: dict[str, bytes]) -> bytes:
    """The bytes of the file."""
    rows = [[name, len(table), binascii.crc32(table)] for name, table in tables.items()]
    return b"".join([json.dumps({"version": VERSION, "tables": rows}).encode(), b"\n", *tables.values()])


def read_tables(path: Path) -> dict[str, bytes] | None:
    """The tables in a file; None where it is not there, is of another version, was cut off or changed."""
    try:
        with path.open("rb") as file:
            heading = json.loads(file.readline(_LONGEST_LINE))
            if heading["version"] != VERSION:
                return None
            tables: dict[str, bytes] = {}
            for name, size, checksum in heading["tables"]:
                table = tables[name] = file.read(size)
                if len(table) != size or binascii.crc32(table) != checksum:
                    return None
            return None if file.read(1) else tables
    except (OSError, ValueError, KeyError, TypeError):
        return None
