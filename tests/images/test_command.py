"""`katapi assemble` and `katapi record` with images."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.command import here as run
from tests.images.shown import A, image, png, request, text, user


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


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(request(user({"type": "image", "path": "b.png"})))
    done = run("assemble", "qwen3-vl", str(tmp_path / "r.json"))
    assert done.status == 1
    assert "image error M123 at messages[0].content[0]" in done.err
    missing = run("assemble", "qwen3-vl", str(tmp_path / "r.json"), "--image", str(tmp_path / "no.png"))
    assert missing.status == 2
    assert "--image" in missing.err
