"""The settings of images: which files are read, and the ways in which an image comes in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from katapi.language import syntax as s
from katapi.language import syntax_images as i
from katapi.language.syntax_types import MediaKind
from katapi.model.resolve.findings import Findings
from katapi.model.resolve.settings import Misread, Part, Settings, settings_of
from katapi.runtime.audio.hearing import Hearing
from katapi.runtime.images.arrival import Alpha, Arrival
from katapi.runtime.images.decoding import Limits, Reading
from katapi.runtime.images.media import FORMATS
from katapi.runtime.images.picture import BLACK, WHITE, Colour

T = TypeVar("T")

_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20}
_COLOURS = {"white": WHITE, "black": BLACK}
_LIMITS = "64 MiB, 178956970 pixels"
_FRAMES: Mapping[str, Literal["first", "reject"]] = {"first": "first", "reject": "reject"}
_LIES: Mapping[str, Literal["reject", "ignore"]] = {"reject": "reject", "ignore": "ignore"}
_TURNS: Mapping[str, Literal["ignore", "apply", "reject"]] = {"ignore": "ignore", "apply": "apply", "reject": "reject"}
_PROFILES: Mapping[str, Literal["ignore", "convert"]] = {"ignore": "ignore", "convert": "convert"}
_DEPTHS: Mapping[str, Literal["clip", "scale", "reject"]] = {"clip": "clip", "scale": "scale", "reject": "reject"}
_CHANNELS: Mapping[str, Literal["mean", "reject"]] = {"mean": "mean", "reject": "reject"}
_ALPHA = "over white | over 122 116 104 | drop | reject"


@dataclass(frozen=True, slots=True)
class Policies:
    """What an image says of files, and the lines that say it."""

    reading: Reading | Hearing
    ways: Mapping[str, Arrival]
    settings: Mapping[str, s.Setting]


def resolve_policies(node: s.Image, base: Policies | None, findings: Findings) -> Policies | None:
    """What an image says of files, on top of what the one says that it is like; None behind a finding."""
    before = len(findings.diagnostics)
    own = tuple(item for item in node.items if isinstance(item, s.Setting))
    keys = {setting.key.text for setting in own}
    taken = () if base is None else tuple(one for key, one in base.settings.items() if key not in keys)
    if node.kind is MediaKind.AUDIO:
        return _of_audio(node, (*taken, *own), findings)
    with settings_of((*own, *taken), node.header, findings) as read:
        accept = _accept(read, FORMATS)
        said = _limits(read, ("pixels", "frames"), _LIMITS)
        limits = None if said is None else Limits(bytes=said["bytes"], pixels=said["pixels"], frames=said.get("frames"))
        frames = _choice(read, "frames", _FRAMES)
        media_type = _choice(read, "media_type", _LIES)
        _choice(read, "damaged", {"reject": True})
    arrivals = [item for item in node.items if isinstance(item, i.Arrival)]
    ways = {} if base is None else dict(base.ways)
    if arrivals:
        ways = _ways(node, arrivals, findings)
    elif base is None:
        help = "add `arrive pil { orientation: ignore  alpha: over white  icc: ignore  depth: clip }`"
        findings.add("K111", node.header.span, "this does not say how an image comes in", help=help)
    if len(findings.diagnostics) > before or frames is None or media_type is None or limits is None:
        return None
    reading = Reading(accept=accept, limits=limits, frames=frames, media_type=media_type)
    settings = {one.key.text: one for one in (*taken, *own)}
    return Policies(reading, ways, settings)


def _of_audio(node: s.Image, settings: tuple[s.Setting, ...], findings: Findings) -> Policies | None:
    """What audio says of files; None behind a finding."""
    before = len(findings.diagnostics)
    with settings_of(settings, node.header, findings) as read:
        accept = _accept(read, ("wav",))
        limits = _limits(read, ("samples",), "64 MiB, 57600000 samples")
        channels = _choice(read, "channels", _CHANNELS)
        rate = _rate(read)
        media_type = _choice(read, "media_type", _LIES)
        _choice(read, "damaged", {"reject": True})
    for item in node.items:
        if isinstance(item, i.Arrival | i.Numbers):
            message, help = "audio has no pixels", "remove this: recordings come in as their settings say"
            findings.add("K813", item.span, message, help=help)
    if len(findings.diagnostics) > before or limits is None or channels is None or rate is None or media_type is None:
        return None
    hearing = Hearing(
        accept=accept,
        bytes=limits["bytes"],
        samples=limits["samples"],
        channels=channels,
        rate=rate,
        media_type=media_type,
    )
    return Policies(hearing, {}, {one.key.text: one for one in settings})


def _rate(read: Settings) -> int | None:
    """The samples in a second."""
    parts = read.parts("rate", "16000")
    if not parts:
        return None
    part = Part(parts[0])
    try:
        rate = part.number()
        part.done()
        if len(parts) > 1 or rate == 0:
            raise Misread
    except Misread:
        read.misread("rate", "16000")
        return None
    return rate


def _accept(read: Settings, formats: Collection[str]) -> tuple[str, ...]:
    """The formats that are accepted, by what the file holds."""
    found: list[str] = []
    remedy = ", ".join(formats)
    for node in read.parts("accept", remedy):
        part = Part(node)
        try:
            name = part.word()
            part.done()
            if name not in formats or name in found:
                raise Misread
            found.append(name)
        except Misread:
            read.bad(node.span, "accept", remedy)
    return tuple(found)


def _limits(read: Settings, units: tuple[str, ...], remedy: str) -> dict[str, int] | None:
    """What is refused from the header: bytes, the first of some units, and others where they are said."""
    said: dict[str, int] = {}
    for node in read.parts("limits", remedy):
        part = Part(node)
        try:
            number, unit = part.number(), part.word()
            part.done()
        except Misread:
            number, unit = 0, ""
        what = "bytes" if unit in _UNITS else unit
        if what not in ("bytes", *units) or what in said or number == 0:
            read.bad(node.span, "limits", remedy)
            continue
        said[what] = number * _UNITS.get(unit, 1)
    if "bytes" not in said or units[0] not in said:
        if read.says("limits"):
            read.bad(read.place("limits"), "limits", remedy)
        return None
    return said


def _choice(read: Settings, key: str, choices: Mapping[str, T]) -> T | None:
    """A word out of a closed set."""
    remedy = " | ".join(choices)
    parts = read.parts(key, remedy)
    if not parts:
        return None
    try:
        if len(parts) > 1:
            raise Misread
        return Part(parts[0]).words(choices)
    except Misread:
        read.misread(key, remedy)
        return None


def _ways(node: s.Image, arrivals: list[i.Arrival], findings: Findings) -> dict[str, Arrival]:
    ways: dict[str, Arrival] = {}
    places: dict[str, i.Arrival] = {}
    for item in arrivals:
        first = places.setdefault(item.name.text, item)
        if first is not item:
            message = f"`arrive {item.name.text}` stands here twice"
            findings.add("K107", item.name.span, message, first=first.name.span)
        owner = replace(node.header, span=item.name.span)
        with settings_of(item.settings, owner, findings) as read:
            orientation = _choice(read, "orientation", _TURNS)
            alpha = _alpha(read, "alpha")
            key = _alpha(read, "key") if read.says("key") else None
            rgb_key = _alpha(read, "rgb_key") if read.says("rgb_key") else None
            icc = _choice(read, "icc", _PROFILES)
            depth = _choice(read, "depth", _DEPTHS)
        if orientation is not None and alpha is not None and icc is not None and depth is not None:
            ways[item.name.text] = Arrival(
                orientation=orientation, alpha=alpha, key=key, rgb_key=rgb_key, icc=icc, depth=depth
            )
    return ways


def _alpha(read: Settings, key: str) -> Alpha | None:
    """What becomes of transparency: a background, or a word."""
    parts = read.parts(key, _ALPHA)
    if not parts:
        return None
    part = Part(parts[0])
    try:
        if len(parts) > 1:
            raise Misread
        if part.flag("over"):
            return _colour(part)
        if part.flag("drop"):
            part.done()
            return "drop"
        if part.flag("reject"):
            part.done()
            return "reject"
        raise Misread
    except Misread:
        read.misread(key, _ALPHA)
        return None


def _colour(part: Part) -> Colour:
    if not part.begins_with_number():
        return part.words(_COLOURS)
    red, green, blue = part.number(), part.number(), part.number()
    part.done()
    if max(red, green, blue) > 255:
        raise Misread
    return red, green, blue
