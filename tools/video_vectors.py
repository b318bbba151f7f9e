"""Works out what transformers' processors make of small films, and writes tests/vectors/videos/qwen.json.

    pip install torch torchvision transformers==5.24.0
    python tools/video_vectors.py

Films are drawn by a formula, so that none is kept. For each processor the file has the sizes and rates of films, and
what came out: the grid, the digest of the pixels as float32 in little-endian order, the frames that were taken and,
where the processor prints more than tokens in a row, the placeholder. `tests/images/test_videos.py` holds the pipelines
to it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "videos" / "qwen.json"


class Drawn(NamedTuple):
    """A film: how many frames, of which size, and how many of them are shown in a second."""

    frames: int
    height: int
    width: int
    fps: float


FILMS = (
    Drawn(9, 48, 70, 3.0),
    Drawn(1, 64, 64, 1.0),
    Drawn(2, 40, 200, 24.0),
    Drawn(3, 128, 96, 1.5),
    Drawn(5, 300, 500, 25.0),
    Drawn(17, 30, 20, 2.4285714),
    Drawn(30, 33, 47, 2.3),
    Drawn(48, 224, 224, 23.976),
    Drawn(61, 100, 150, 29.97),
    Drawn(31, 17, 260, 2.0),
)
"""Films with few and many frames, smaller than a block and larger than the limits, at whole rates and others."""


def drawn(film: Drawn, index: int) -> NDArray[np.uint8]:
    """A frame of a film: uint8 of shape [height, width, 3]."""
    y, x, c = np.ogrid[: film.height, : film.width, :3]
    values = 17 * index + (3 + c) * y + (5 + 2 * c) * x + x * y // (7 + c)
    return np.asarray(values % 256, np.uint8)


def main() -> None:
    """Writes the file."""
    from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor
    from transformers.models.qwen3_vl.processing_qwen3_vl import Qwen3VLProcessor
    from transformers.models.qwen3_vl.video_processing_qwen3_vl import Qwen3VLVideoProcessor

    qwen2 = Qwen2VLVideoProcessor(cap_pixels_per_frame=False)
    qwen3 = Qwen3VLVideoProcessor(size={"shortest_edge": 4096, "longest_edge": 25165824}, cap_pixels_per_frame=False)
    processors: dict[str, tuple[Qwen2VLVideoProcessor | Qwen3VLVideoProcessor, dict[str, object]]] = {
        "qwen2_vl_video": (qwen2, {"do_sample_frames": True, "fps": 2}),
        "qwen2_vl_frames": (qwen2, {"do_sample_frames": False}),
        "qwen3_vl_video": (qwen3, {}),
    }
    rows: list[dict[str, object]] = []
    for name, (processor, options) in processors.items():
        for film in FILMS:
            pixels = np.stack([drawn(film, index) for index in range(film.frames)])
            told = {"total_num_frames": film.frames, "fps": film.fps}
            row: dict[str, object] = {"pipeline": name, "film": film._asdict()}
            rows.append(row)
            try:
                made = processor([pixels], video_metadata=[told], return_metadata=True, return_tensors="np", **options)
            except (IndexError, RuntimeError, ValueError, ZeroDivisionError) as error:
                row["error"] = type(error).__name__
                continue
            metadata = made["video_metadata"][0]
            values = np.ascontiguousarray(made["pixel_values_videos"], "<f4")
            row["grid"] = np.asarray(made["video_grid_thw"]).tolist()
            row["shape"] = list(values.shape)
            row["sha256"] = hashlib.sha256(values.tobytes()).hexdigest()
            if metadata.frames_indices is not None:
                row["frames"] = [int(index) for index in metadata.frames_indices]
            row["seconds_per_grid"] = float(np.float32(2 / metadata.sampled_fps))
            if name == "qwen3_vl_video":
                whole = Qwen3VLProcessor.__new__(Qwen3VLProcessor)
                whole.video_processor = processor
                whole.vision_start_token, whole.vision_end_token = "<|vision_start|>", "<|vision_end|>"
                whole.video_token = "<|video_pad|>"
                text = whole.replace_video_token(made, 0)
                row["placeholder"] = {"length": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    versions = {name: version(name) for name in ("transformers", "torch", "torchvision", "numpy")}
    lines = ",\n".join(json.dumps(row) for row in rows)
    FILE.write_text(f'{{"versions": {json.dumps(versions)}, "cases": [\n{lines}\n]}}\n', "utf-8")
    sys.stdout.write(f"{len(rows)} cases\n")


if __name__ == "__main__":
    main()
