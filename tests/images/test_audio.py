"""Recordings: WAV files of all encodings, what is refused, and Voxtral's chunks."""

from __future__ import annotations

import hashlib
import io
import struct
import wave

import numpy as np
import pytest
from numpy.typing import NDArray

import katapi

VOXTRAL = katapi.audio_pipeline("voxtral")

#: Samples, then what mistral-common 1.13.1 makes of them (`AudioEncoder`: 16 kHz, 12.5 tokens in a second, chunks of 30
#: seconds, hops of 160): the padded length, the tokens but for [BEGIN_AUDIO], and the digest of the padded float32.
CHUNKS = [
    (1, 480000, 375, "2ce8556324d6e973c8459f85564621979096a92f83c4323b17b6ee22908aa313"),
    (399, 480000, 375, "8a254ae0373a2a8868e3c4ed1da038efee0d9a7759355f231a5a3a486ac06627"),
    (16000, 480000, 375, "d7f73a9d9f093f85387b79a4ac10126ac74013096f457dfcfde9a728096270a0"),
    (479999, 480000, 375, "d1ca549b77d4fdb0891c0ab7386bd15b6a52a716b8fb95ff6df82506ff43ab00"),
    (480000, 480000, 375, "58a20989469fb0b4380c51133ffb6fb437ac177f0e403c37a221398243913d39"),
    (480001, 960000, 750, "2b059d359ad56d1aa9b04c90ac51213bbaf39874a90047e46d4d5ff8e693af6d"),
    (1000000, 1440000, 1125, "40e901ea0e6e144e3f5b50a496eda26064bf205161e79c44f7e8e8eab0575b3f"),
]


def pcm(samples: NDArray[np.int16], rate: int = 16000, channels: int = 1) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()


def riff(of: int, bits: int, body: bytes, extension: bytes = b"", channels: int = 1, rate: int = 16000) -> bytes:
    """A WAV file with a header of any format, behind a chunk that says nothing of interest."""
    step = channels * bits // 8
    form = struct.pack("<HHIIHH", of, channels, rate, rate * step, step, bits) + extension
    chunks = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    chunks += b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def drawn(samples: int) -> NDArray[np.int16]:
    return ((np.arange(samples) * 7919) % 65536 - 32768).astype(np.int16)


@pytest.mark.parametrize(("samples", "padded", "tokens", "digest"), CHUNKS)
def test_chunks_are_those_of_mistral_common(samples: int, padded: int, tokens: int, digest: str) -> None:
    file = pcm(drawn(samples))
    made = VOXTRAL.process(file)
    audio = made.arrays["audio"]
    assert (audio.shape, made.tokens) == ((padded,), tokens)
    assert hashlib.sha256(np.ascontiguousarray(audio, "<f4").tobytes()).hexdigest() == digest
    (one,) = made.recordings
    assert [(piece.spelling, piece.count) for piece in one.placeholder] == [("[BEGIN_AUDIO]", 1), ("[AUDIO]", tokens)]
    assert VOXTRAL.measure(file).placeholder == one.placeholder
    assert one.record["tokens"] == tokens


ENCODED = [
    (1, 8, bytes([0, 128, 255]), [-1.0, 0.0, 127 / 128]),
    (1, 16, struct.pack("<3h", -(2**15), 0, 2**15 - 1), [-1.0, 0.0, 1 - 2**-15]),
    (1, 24, b"\0\0\x80\0\0\0\xff\xff\x7f", [-1.0, 0.0, 1 - 2**-23]),
    (1, 32, struct.pack("<3i", -(2**31), 0, 2**30), [-1.0, 0.0, 0.5]),
    (3, 32, struct.pack("<3f", -1.0, 0.0, 0.25), [-1.0, 0.0, 0.25]),
]


@pytest.mark.parametrize(("of", "bits", "body", "values"), ENCODED)
def test_each_encoding_is_read_as_numbers_up_to_one(of: int, bits: int, body: bytes, values: list[float]) -> None:
    plain = VOXTRAL.process(riff(of, bits, body)).arrays["audio"]
    assert plain[:3].tolist() == values
    assert not plain[3:].any()
    extension = struct.pack("<HHIH", 22, bits, 4, of) + b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
    assert VOXTRAL.process(riff(0xFFFE, bits, body, extension)).arrays["audio"].tolist() == plain.tolist()


def test_several_channels_become_their_mean() -> None:
    stereo = np.array([[100, 300], [-32768, 32767]], np.int16)
    audio = VOXTRAL.process(pcm(stereo.reshape(-1), channels=2)).arrays["audio"]
    assert audio[:2].tolist() == [200 / 2**15, -0.5 / 2**15]


SOUND = pcm(drawn(100))
REFUSED = [
    (b"", "M101"),
    (pcm(drawn(0)), "M101"),
    (b"ID3", "M103"),
    (SOUND[:-1], "M107"),
    (SOUND[:30], "M107"),
    (riff(3, 32, struct.pack("<f", float("nan"))), "M107"),
    (pcm(drawn(100), rate=44100), "M117"),
    (riff(6, 8, b"abc"), "M117"),
]


@pytest.mark.parametrize(("data", "code"), REFUSED)
def test_what_is_refused_says_so_with_its_place(data: bytes, code: str) -> None:
    with pytest.raises(katapi.MediaError) as raised:
        VOXTRAL.process(SOUND, data)
    assert (raised.value.code, raised.value.where) == (code, "audio[1]")


def test_a_media_type_that_lies_is_refused() -> None:
    assert VOXTRAL.process(SOUND, media_type="audio/x-wav; rate=16000").tokens == 375
    with pytest.raises(katapi.MediaError) as raised:
        VOXTRAL.process(SOUND, media_type="audio/mpeg")
    assert raised.value.code == "M104"


def test_names_are_listed() -> None:
    assert katapi.audio_pipelines() == ["voxtral"]
    with pytest.raises(katapi.ArtifactError) as raised:
        katapi.audio_pipeline("voxtrals")
    assert raised.value.code == "A141"
