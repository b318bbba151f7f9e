"""The archive: one spelling, read by any zip program; whatever is changed in it is noticed."""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from katapi.packs.archive import MANIFEST, read_archive, write_archive
from katapi.packs.reading import read_pack
from katapi.packs.writing import pack_bytes
from katapi.runtime.errors import ReplayError
from tests.examples import examples
from tests.packs.made import fixture

DATA = pack_bytes(fixture())
NAMES = st.from_regex(r"\A[a-z]{1,5}(/[a-z0-9_]{1,5}){0,2}(\.json)?\Z")


@examples(test=50, fuzz=1000)
@given(st.dictionaries(NAMES, st.binary(max_size=40), max_size=5), st.binary(max_size=40))
def test_what_is_written_is_read_by_zipfile_and_here(others: dict[str, bytes], manifest: bytes) -> None:
    files = {**others, MANIFEST: manifest}
    data = write_archive(files)
    assert read_archive(data) == files
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {info.filename: archive.read(info) for info in archive.infolist()} == files
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.namelist()[0] == MANIFEST


def refused(data: bytes) -> str:
    with pytest.raises(ReplayError) as caught:
        read_pack(data)
    return caught.value.code


def test_a_byte_that_is_changed_anywhere_is_noticed() -> None:
    for at in range(len(DATA)):
        changed = bytearray(DATA)
        changed[at] ^= 1 << (at % 8)
        assert refused(bytes(changed)) in ("Y100", "Y101"), at


def test_a_byte_that_is_changed_is_noticed_even_with_its_checksum_put_right() -> None:
    files = read_archive(DATA)
    drawn = random.Random(1)
    for name, content in files.items():
        for _ in range(40):
            changed = bytearray(content)
            changed[drawn.randrange(len(changed))] ^= 1 << drawn.randrange(8)
            again = write_archive({**files, name: bytes(changed)})
            if name != MANIFEST:
                assert refused(again) == "Y101"
            else:
                assert outcome(again) in ("another pack", "Y101", "Y102", "Y103")


def outcome(data: bytes) -> str:
    """What a manifest says of itself, versions and the words of an error, nothing else tells."""
    try:
        found = read_pack(data)
    except ReplayError as error:
        return error.code
    return "the same pack" if pack_bytes(found) == DATA else "another pack"


@pytest.mark.parametrize("length", [0, 1, 3, 4, 29, 30, 42, 43, 500, len(DATA) // 2, len(DATA) - 22, len(DATA) - 1])
def test_a_pack_that_is_cut_off_is_noticed(length: int) -> None:
    assert refused(DATA[:length]) == ("Y101" if length >= 43 else "Y100")


def test_what_stands_behind_or_before_a_pack_is_noticed() -> None:
    assert refused(DATA + b"\0") == "Y101"
    assert refused(b"\0" + DATA) == "Y100"


def zipped(files: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_a_bomb_a_path_out_of_the_folder_and_two_files_of_one_name() -> None:
    files = read_archive(DATA)
    assert refused(zipped(files, zipfile.ZIP_DEFLATED)) == "Y100"
    assert refused(zipped({MANIFEST: b"\0" * 10_000_000}, zipfile.ZIP_DEFLATED)) == "Y100"
    for name in ("../manifest.json", "/etc/passwd", "a/../b", "C:\\x", "a//b", "a\0", "ä", "A", ".", ""):
        with pytest.raises((ReplayError, UnicodeEncodeError)) as caught:
            read_archive(write_archive({**files, name: b""}))
        assert getattr(caught.value, "code", "Y101") == "Y101"
    body = DATA[: DATA.index(b"PK\x01\x02")]
    assert refused(body + body + DATA[len(body) :]) == "Y101"


def test_a_size_that_is_beyond_the_file_takes_no_memory() -> None:
    huge = bytearray(DATA)
    huge[18:26] = struct.pack("<2I", 0xFFFF_FFFF, 0xFFFF_FFFF)
    assert refused(bytes(huge)) == "Y101"


@examples(test=200, fuzz=10_000)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_pack_or_an_error_with_a_code(data: bytes) -> None:
    for tried in (data, DATA[:43] + data, DATA[: DATA.index(b"PK\x01\x02")] + data):
        with pytest.raises(ReplayError):
            read_pack(tried)


def test_checksums_are_those_of_zip() -> None:
    assert zlib.crc32(b"123456789") == 0xCBF43926
    assert struct.unpack_from("<I", write_archive({MANIFEST: b"123456789"}), 14) == (0xCBF43926,)
