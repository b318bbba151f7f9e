"""A zip of which there is one spelling: the same files give the same bytes, and other bytes are no pack.

The form is that of PKWARE's APPNOTE 6.3, with nothing left open: `manifest.json` first and the others by their names,
stored as they are, dated 1980-01-01 00:00, without attributes, comments or extra fields. Any program that reads zip
reads it. Reading takes the files one after the other, puts the archive together again and compares, so that no byte of
it can differ, nothing is unpacked to more than it takes, and no name leads out of a folder.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from katapi.runtime.errors import ReplayError

MANIFEST: Final = "manifest.json"
"""The name of the file that stands first."""
MAX_SIZE: Final = 1 << 30
"""How many bytes a pack may have."""
MAX_FILES: Final = 10_000
"""How many files a pack may have."""

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_LOCAL_MARK, _CENTRAL_MARK, _END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_VERSION = 20  # of the format: 2.0 has folders
_DATE = 0x21  # 1980-01-01
_NAME = re.compile(rb"[a-z0-9_]+(?:\.[a-z0-9]+)?(?:/[a-z0-9_]+(?:\.[a-z0-9]+)?)*")


def write_archive(files: Mapping[str, bytes]) -> bytes:
    """The archive of some files. Raises `ReplayError` Y104 where it would be larger than a pack may be."""
    names = sorted(files, key=lambda name: (name != MANIFEST, name))
    if sum(map(len, files.values())) > MAX_SIZE or len(names) > MAX_FILES:
        raise ReplayError(
            f"a pack has at most {MAX_SIZE} bytes in {MAX_FILES} files",
            code="Y104",
            help="record a shorter request, or do not embed artifacts",
        )
    body, directory = bytearray(), bytearray()
    for name in names:
        data, spelled = files[name], name.encode("ascii")
        check, start = zlib.crc32(data), len(body)
        body += _LOCAL.pack(
            _LOCAL_MARK, _VERSION, 0, 0, 0, _DATE, check, len(data), len(data), len(spelled), 0
        )  # fmt: skip
        body += spelled + data
        directory += _CENTRAL.pack(
            _CENTRAL_MARK, _VERSION, _VERSION, 0, 0, 0, _DATE, check, len(data), len(data), len(spelled),
            0, 0, 0, 0, 0, start,
        )  # fmt: skip
        directory += spelled
    end = _END.pack(_END_MARK, 0, 0, len(names), len(names), len(directory), len(body), 0)
    return bytes(body + directory + end)


def read_archive(data: bytes) -> dict[str, bytes]:
    """The files of an archive that `write_archive` wrote.

    Raises `ReplayError` Y100 for what does not begin as a pack, Y101 for one that is cut off or was changed, and Y104
    for one that is too large.
    """
    if len(data) > MAX_SIZE + (1 << 24):
        raise ReplayError(
            f"it has more than the {MAX_SIZE} bytes that a pack may have",
            code="Y104",
            help="record a shorter request, or do not embed artifacts",
        )
    first = _LOCAL_MARK + _LOCAL.pack(b"", _VERSION, 0, 0, 0, _DATE, 0, 0, 0, len(MANIFEST), 0)[4:14]
    if not data.startswith(first) or data[_LOCAL.size : _LOCAL.size + len(MANIFEST)] != MANIFEST.encode():
        raise ReplayError(
            "it is no pack: a pack begins with its manifest",
            code="Y100",
            where="byte 0",
            help="`katapi record` and `katapi foreign` write packs; one that was packed anew is none any more",
        )
    files: dict[str, bytes] = {}
    for name, content in _files(data):
        if name in files or len(files) == MAX_FILES:
            raise _damaged(name)
        files[name] = content
    again = write_archive(files)
    if again != data:
        raise _damaged(f"byte {_parting(again, data)}")
    return files


def _files(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The files in the order in which they stand."""
    at = 0
    while data.startswith(_LOCAL_MARK, at):
        if at + _LOCAL.size > len(data):
            raise _damaged(f"byte {at}")
        size, length = _LOCAL.unpack_from(data, at)[8:10]
        name = data[at + _LOCAL.size : at + _LOCAL.size + length]
        start = at + _LOCAL.size + length
        if start + size > len(data) or not _NAME.fullmatch(name):
            raise _damaged(f"byte {at}")
        yield name.decode("ascii"), data[start : start + size]
        at = start + size


def _parting(one: bytes, other: bytes) -> int:
    """The first place at which two texts differ."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _damaged(where: str) -> ReplayError:
    return ReplayError(
        "the pack is cut off or was changed", code="Y101", where=where, help="get it again from where it was recorded"
    )
