"""The positions of vision models of the Qwen family: time, row and column of each token (M-RoPE, Wang et al. 2024).

A token of text has one position in all three rows. The tokens of an image or a video stand in a grid: each has its
place in time, its row and its column there, counted from the position that a token of text would have had. What follows
goes on behind the highest position of the grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.dataclass import dataclass
from katapi.runtime.errors import MediaError

T = TypeVar("T")

Grid: TypeAlias = tuple[int, int, int]
"""How many patches an image or a video has in time, in height and in width, before they are merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionLayout:
    """How a model of the Qwen family places images and videos; `katapi.VISION_LAYOUTS` has those of its generations."""

    image_id: int
    """The id that stands for each merged patch of an image."""
    video_id: int
    """The same for videos."""
    merge: int = 2
    """So many patches in height, and as many in width, become one token."""
    video: Literal["steps", "seconds", "frames"]
    """Where the time of a video stands: in steps of one; in seconds, times `tokens_per_second`; or in the text, before
    each frame, so that each is placed as an image is."""
    tokens_per_second: float = 1
    """How far positions in time go on in a second, as `vision_config` of the model says; for `seconds` alone."""
    behind: Literal["highest", "side"] = "highest"
    """Where the text behind a grid begins: one above its highest position, as the models were trained; or as many above
    its first position as its longer side has tokens, as transformers has it since version 5.3. The two are the same but
    for videos that last longer than that."""


VISION_LAYOUTS = {
    "qwen2_vl": VisionLayout(image_id=151655, video_id=151656, video="steps"),
    "qwen2_5_vl": VisionLayout(image_id=151655, video_id=151656, video="seconds", tokens_per_second=2),
    "qwen3_vl": VisionLayout(image_id=151655, video_id=151656, video="frames"),
    "qwen3_5": VisionLayout(image_id=248056, video_id=248057, video="frames"),
}
"""The layouts of the published models, by the names that transformers gives their architectures."""


class Positions(NamedTuple):
    """The positions of one input."""

    position_ids: NDArray[np.int64]
    """Time, row and column of each token: int64 of shape [3, n]."""
    rope_delta: int
    """What the position of a token that comes behind the input is more than its index."""


class BatchPositions(NamedTuple):
    """The positions of several inputs."""

    position_ids: NDArray[np.int64]
    """Time, row and column of each token: int64 of shape [3, B, n], or [3, total] for a packed row."""
    rope_deltas: NDArray[np.int64]
    """What the position of a token that comes behind each input is more than its index there: int64 of shape [B]."""


class _Block(NamedTuple):
    """An image, a video or a frame as tokens."""

    name: str
    grid: Grid
    time: int
    height: int
    width: int
    seconds_per_step: float | None

    @property
    def size(self) -> int:
        return self.time * self.height * self.width

    def positions(self, layout: VisionLayout) -> NDArray[np.int64]:
        steps = np.arange(self.time)
        if self.seconds_per_step is not None:
            # The official code works in single precision, which decides what is cut off.
            interval = np.float32(layout.tokens_per_second) * np.float32(self.seconds_per_step)
            steps = (steps.astype(np.float32) * interval).astype(np.int64)
        grid = np.meshgrid(steps, np.arange(self.height), np.arange(self.width), indexing="ij")
        return np.stack(grid).reshape(3, -1)


def mrope_positions(
    ids: Sequence[int] | NDArray[np.int64],
    layout: VisionLayout,
    images: Sequence[Grid] = (),
    videos: Sequence[Grid] = (),
    seconds: Sequence[float] = (),
) -> Positions:
    """The positions of one input, `ids` a list or int64 of shape [n]: int64 of shape [3, n].

    Each image and video must already have as many placeholders in `ids` as it has tokens: its grid's patches, merged.
    `images` and `videos` are the grids in order; `seconds`, where the layout asks for them, say for each video how much
    time lies between two of its steps.

    Raises `MediaError` M110 for a grid that cannot be merged, M111 where the placeholders are not those of the grids,
    M112 where there are more of one than of the other, and M113 where `seconds` are missing or do not belong.
    """
    return _positions(np.asarray(ids, dtype=np.int64), layout, images, videos, seconds, "")


def positions_of_samples(
    samples: Sequence[NDArray[np.int64]],
    layout: VisionLayout,
    images: Sequence[Sequence[Grid]],
    videos: Sequence[Sequence[Grid]],
    seconds: Sequence[Sequence[float]],
) -> BatchPositions:
    """The positions of samples, int64 of shape [n] each, one behind the other: int64 of shape [3, total].

    Raises `MediaError` M110 to M113 as `mrope_positions` does, and M112 where there are grids for another number of
    samples.
    """
    parts: list[NDArray[np.int64]] = []
    deltas: list[int] = []
    media = zip(
        _each(images, len(samples), "images"),
        _each(videos, len(samples), "videos"),
        _each(seconds, len(samples), "seconds"),
        strict=True,
    )
    for index, (ids, (pictures, films, times)) in enumerate(zip(samples, media, strict=True)):
        positions = _positions(ids, layout, pictures, films, times, f"sample {index}, ")
        parts.append(positions.position_ids)
        deltas.append(positions.rope_delta)
    return BatchPositions(np.concatenate(parts, axis=1), np.array(deltas, dtype=np.int64))


def _each(values: Sequence[Sequence[T]], count: int, what: str) -> Sequence[Sequence[T]]:
    """What there is for each sample; nothing at all stands for nothing in each."""
    if len(values) not in (0, count):
        raise MediaError(
            f"there are {what} for {len(values)} samples, and {count} samples",
            code="M112",
            where=what,
            help="give a list for each sample, an empty one where it has none",
        )
    return values if len(values) else [()] * count


def _positions(
    ids: NDArray[np.int64],
    layout: VisionLayout,
    images: Sequence[Grid],
    videos: Sequence[Grid],
    seconds: Sequence[float],
    where: str,
) -> Positions:
    """As `mrope_positions`; `where` stands before the places in messages."""
    if not isinstance(layout, VisionLayout):
        raise TypeError(f"layout is one of katapi.VISION_LAYOUTS, not a {type(layout).__name__}")
    pictures = _Media("image", _pictures(images, layout, where), where)
    films = _Media("video", _films(videos, seconds, layout, where), where)
    kinds = (ids == layout.image_id) + 2 * (ids == layout.video_id)
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(ids)]
    position_ids = np.empty((3, len(ids)), dtype=np.int64)
    following = 0
    for start, end in pairwise(edges):
        if start == end:  # no ids at all
            continue
        if not kinds[start]:
            position_ids[:, start:end] = np.arange(following, following + end - start)
            following += end - start
            continue
        at = start
        for block in (films if kinds[start] == 2 else pictures).filling(start, end):
            placed = block.positions(layout) + following
            position_ids[:, at : at + block.size] = placed
            at += block.size
            following += (
                max(block.height, block.width) if layout.behind == "side" else int(placed.max()) + 1 - following
            )
    pictures.refuse_more()
    films.refuse_more()
    highest = int(position_ids.max(initial=-1))
    return Positions(position_ids, highest + 1 - len(ids))


class _Media:
    """The images or the videos of one input, as they are taken in order."""

    def __init__(self, kind: str, blocks: Sequence[_Block], where: str) -> None:
        self._kind = kind
        self._blocks = blocks
        self._where = where
        self._taken = 0

    def filling(self, start: int, end: int) -> Iterator[_Block]:
        """The next blocks, which together have as many tokens as the placeholders from `start` to `end`."""
        first = self._taken
        count = 0
        while count < end - start:
            if self._taken == len(self._blocks):
                raise MediaError(
                    f"{_placeholders(start + count, end)} of no {self._kind}",
                    code="M112",
                    where=f"{self._where}{self._kind}s",
                    help=f"there are {len(self._blocks)} grids; give one for each {self._kind}, in order",
                )
            count += self._blocks[self._taken].size
            self._taken += 1
        taken = self._blocks[first : self._taken]
        if count > end - start:
            raise MediaError(
                f"{_placeholders(start, end, 'not ')} of {' and '.join(map(_shown, taken))}",
                code="M111",
                where=f"{self._where}{taken[-1].name}",
                help="put a placeholder in the ids for each token of the grid",
            )
        return iter(taken)

    def refuse_more(self) -> None:
        """Raises where blocks are left that nothing stands for."""
        if self._taken < len(self._blocks):
            block = self._blocks[self._taken]
            raise MediaError(
                f"nothing in the ids stands for {_shown(block)}",
                code="M112",
                where=f"{self._where}{block.name}",
                help="put a placeholder in the ids for each token of the grid",
            )


def _placeholders(start: int, end: int, negation: str = "") -> str:
    """The beginning of a sentence that says whose they are."""
    if end - start == 1:
        return f"1 placeholder at index {start} is {negation}that"
    return f"{end - start} placeholders at index {start} are {negation}those"


def _shown(block: _Block) -> str:
    time, height, width = block.grid
    return f"{block.name}, whose grid {time} × {height} × {width} has {block.size} tokens"


def _pictures(images: Sequence[Grid], layout: VisionLayout, where: str) -> list[_Block]:
    return [_block(f"image {index}", grid, layout, None, where) for index, grid in enumerate(images)]


def _films(videos: Sequence[Grid], seconds: Sequence[float], layout: VisionLayout, where: str) -> list[_Block]:
    timed = layout.video == "seconds"
    if len(seconds) != (len(videos) if timed else 0):
        wanted = f"one for each of {len(videos)} videos" if timed else "none: the ids themselves tell the time"
        raise MediaError(
            f"{len(seconds)} values of seconds, where the layout takes {wanted}",
            code="M113",
            where=f"{where}seconds",
            help="pass how much time lies between two steps of a video: temporal_patch_size / fps"
            if timed
            else "leave them out",
        )
    blocks: list[_Block] = []
    for index, (grid, interval) in enumerate(zip(videos, seconds if timed else repeat(None), strict=False)):
        whole = _block(f"video {index}", grid, layout, interval, where)
        if layout.video == "frames":
            blocks += [whole._replace(name=f"{whole.name}, frame {at}", time=1) for at in range(whole.time)]
        else:
            blocks.append(whole)
    return blocks


def _block(name: str, grid: Grid, layout: VisionLayout, interval: float | None, where: str) -> _Block:
    numbers: Sequence[int] = grid  # a caller without a type checker may pass two of them
    if len(numbers) != 3 or min(numbers) < 1 or numbers[1] % layout.merge or numbers[2] % layout.merge:
        patches = " × ".join(map(str, numbers))
        raise MediaError(
            f"a grid of {patches} patches cannot be merged by {layout.merge} × {layout.merge}",
            code="M110",
            where=f"{where}{name}",
            help="pass (time, height, width) as the image processor gives it, before merging",
        )
    time, height, width = grid
    return _Block(name, grid, time, height // layout.merge, width // layout.merge, interval)
