"""`katapi assemble`, `katapi record` and `katapi batch` with images."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import katapi
from tests.command import here as run
from tests.images.shown import A, B, image, png, request, text, user


def test_images_are_attached_and_named_by_files(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(request(user(image(), text("or"), {"type": "image", "path": "b.png"})))
    (tmp_path / "a.png").write_bytes(A)
    (tmp_path / "b.png").write_bytes(png(300, 300))
    options = ["--image", str(tmp_path / "a.png"), "--image-folder", str(tmp_path)]
    done = run("assemble", "qwen3-vl", str(tmp_path / "r.json"), *options)
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert [one["path"] for one in found["images"]] == [["messages", 0, "content", 0], ["messages", 0, "content", 2]]
    assert [one["from"] for one in found["record"]["images"]] == ["attached", "file"]
    out = tmp_path / "x.npz"
    assert (
        run("assemble", "qwen3-vl", str(tmp_path / "r.json"), *options, "--format", "npz", "-o", str(out)).status == 0
    )
    arrays = np.load(out)
    assert arrays["image_grid_thw"].shape == (2, 3)
    assert len(arrays["pixel_values"]) == arrays["image_grid_thw"].prod(axis=1).sum()
    pack = tmp_path / "x.pack"
    assert run("record", "qwen3-vl", str(tmp_path / "r.json"), *options, "-o", str(pack)).status == 0
    page = tmp_path / "x.html"
    shown = run("inspect", "qwen3-vl", str(tmp_path / "r.json"), *options, "-o", str(page))
    assert shown.status == 0, shown.err
    assert "sha256" in page.read_text("utf-8")
    assert run("inspect", str(pack), *options, "-o", str(page)).status == 2
    replayed = run("replay", str(pack))
    assert replayed.status == 0, replayed.out


def test_a_batch_has_what_the_model_receives_of_the_images(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(A)
    first = request(user(text("none")))
    second = request(user({"type": "image", "path": "a.png"}, image(png(300, 300)), text("two")))
    (tmp_path / "r.jsonl").write_bytes(first + b"\n" + second + b"\n")
    out = tmp_path / "x.npz"
    given = (str(tmp_path / "r.jsonl"), "-o", str(out))
    for padding in ("left", "packed"):
        done = run("batch", "qwen3-vl", *given, "--image-folder", str(tmp_path), "--padding", padding)
        assert done.status == 0, done.err
        arrays = np.load(out)
        expected = katapi.image_pipeline("qwen3_vl").process(A, png(300, 300)).arrays
        assert {name: len(arrays[name]) for name in expected} == {name: len(each) for name, each in expected.items()}
        assert all(np.array_equal(arrays[name], each) for name, each in expected.items())
        assert (arrays["input_ids"] == 151655).sum() * 4 == len(arrays["pixel_values"])
    refused = run("batch", "qwen3-vl", *given)
    assert refused.status == 1
    assert f"M123 at {tmp_path / 'r.jsonl'}:2, messages[0].content[0]" in refused.err


def test_a_pack_without_the_bytes_of_an_image_replays_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(A)
    model = katapi.load("qwen3-vl")
    done = katapi.execute(model, request(user(image())), images=katapi.Images(attached=[A]))
    pack = tmp_path / "x.pack"
    pack.write_bytes(katapi.pack_bytes(katapi.pack_of(model, done, embed_images=False)))
    without = run("replay", str(pack))
    assert without.status == 1
    assert "not its bytes" in without.err
    assert run("replay", str(pack), "--image", str(tmp_path / "a.png")).status == 0


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(request(user({"type": "image", "path": "b.png"})))
    done = run("assemble", "qwen3-vl", str(tmp_path / "r.json"))
    assert done.status == 1
    assert "image error M123 at messages[0].content[0]" in done.err
    missing = run("assemble", "qwen3-vl", str(tmp_path / "r.json"), "--image", str(tmp_path / "no.png"))
    assert missing.status == 2
    assert "--image" in missing.err


SHOWN = request(user(image(), text("or"), image()))
ONE = request(user(image()))
NONE = request(user(text("nothing")))


def test_images_of_a_batch_go_to_the_request_that_they_name(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(b"\n".join((NONE, SHOWN, b"", ONE)))
    (tmp_path / "one.json").write_bytes(ONE)
    (tmp_path / "a.png").write_bytes(A)
    (tmp_path / "b=.png").write_bytes(B)
    a, b, lines, file = (str(tmp_path / name) for name in ("a.png", "b=.png", "r.jsonl", "one.json"))
    images = [f"{lines}:4={b}", f"{lines}:2={a}", f"{file}={a}", f"{lines}:2={b}"]
    options = [option for given in images for option in ("--image", given)]
    out = tmp_path / "x.npz"
    model = katapi.load("qwen3-vl")
    inputs = [
        model.assemble(raw, images=katapi.Images(attached=attached))
        for raw, attached in ((NONE, []), (SHOWN, [A, B]), (ONE, [B]), (ONE, [A]))
    ]
    for form in ("left", "packed"):
        done = run("batch", "qwen3-vl", lines, file, *options, "--padding", form, "-o", str(out))
        assert (done.status, done.err) == (0, "")
        found = np.load(out)
        expected = katapi.pack(inputs) if form == "packed" else katapi.batch(inputs, "left")
        assert np.array_equal(found["input_ids"], expected.input_ids)
        for name, array in expected.pixel_inputs().items():
            assert np.array_equal(found[name], array), name
    done = run("batch", "qwen3-vl", "-", "--image", f"-:2={b}", "-o", str(out), stdin=NONE + b"\n" + ONE)
    assert (done.status, done.err) == (0, "")
    assert np.load(out)["image_grid_thw"].shape == (1, 3)
    alone = run("batch", "qwen3-vl", file, "--image", b, "-o", str(out))
    assert (alone.status, alone.err) == (0, "")


@pytest.mark.parametrize(
    ("stdin", "images", "status", "said"),
    [
        (NONE + b"\n" + ONE, ["-:3=/a.png"], 2, "'-:3=/a.png' says of none of the 2 requests"),
        (NONE + b"\n" + ONE, ["-:2=/no.png"], 2, "no.png cannot be read"),
        (NONE + b"\n" + ONE, ["-:1={a}"], 1, "image error M120 at standard input:1, attached[0]"),
        (ONE, [], 0, ""),
        (b"", ["a.png"], 2, "says of none of the 0 requests"),
    ],
)
def test_an_image_of_a_batch_that_fits_no_request_is_told(
    stdin: bytes, images: list[str], status: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "a.png").write_bytes(A)
    options = [option for given in images for option in ("--image", given.format(a=tmp_path / "a.png"))]
    done = run("batch", "qwen3-vl", "-", *options, "-o", str(tmp_path / "x.npz"), stdin=stdin)
    assert done.status == status
    assert said in " ".join(done.err.replace("│", " ").split())
