"""What a template and a tokenizer make of a request, and what the model receives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.assembly import assemble_ids
from katapi.runtime.budget.decision import PolicyDecision
from katapi.runtime.dataclass import dataclass
from katapi.runtime.origins import Origins, portions
from katapi.runtime.owners import owners_of
from katapi.runtime.passages import AssembledPassage, Passage
from katapi.runtime.printed import ImageSpan, Printed, images_of, rendering_of, text_of
from katapi.runtime.record import (
    Declarations,
    ExecutionRecord,
    Extension,
    Identity,
    Incoming,
    Run,
    environment,
)
from katapi.runtime.request_model import RequestModel, defaults_of
from katapi.runtime.segments import Segment
from katapi.runtime.stages import Stage
from katapi.runtime.tokenization.interface import Tokenizer

if TYPE_CHECKING:
    from katapi.runtime.departures import Departure
    from katapi.runtime.images.arrays import Array
    from katapi.runtime.images.assembled import AssembledImage, AssembledVideo, ImagePlace
    from katapi.runtime.images.given import Medium
    from katapi.runtime.json_types import JsonObject


class RenderedInput:
    """What a template printed (the interface `RenderedInput` of the chapter, section 1.4).

    The same arguments give the same payload.

    What the renderer printed is kept as it is; text and segments are made of it when first asked for.
    """

    __slots__ = ("_images", "_made", "_template", "_text", "printed")

    def __init__(self, printed: Sequence[Printed], template: Identity) -> None:
        self.printed = printed
        """The same as `payload`, before segments are made of it."""
        self._template = template
        self._text: str | None = None
        self._images: tuple[ImageSpan, ...] | None = None
        self._made: tuple[tuple[Segment, ...], tuple[tuple[int, int], ...]] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RenderedInput):
            return NotImplemented
        return self._template == other._template and self._segments == other._segments

    def __repr__(self) -> str:
        return f"RenderedInput({self.template_id}, {self.text!r})"

    @property
    def kind(self) -> Literal["token_segments"]:
        """Control tokens are ids here, not text."""
        return "token_segments"

    @property
    def payload(self) -> tuple[Segment, ...]:
        """All segments in order."""
        return self._segments[0]

    @property
    def sampled(self) -> tuple[tuple[int, int], ...]:
        """Half-open ranges of segments that the model itself would have generated."""
        return self._segments[1]

    @property
    def template_id(self) -> str:
        """The name and version of the template: `Qwen3@1`."""
        return self._template.id

    @property
    def template_digest(self) -> str:
        """The SHA-256 of the template's meaning: `sha256:` and 64 hexadecimal digits."""
        return self._template.digest

    @property
    def text(self) -> str:
        """The rendered string as the official template would print it, control tokens as they are spelled."""
        text = self._text
        if text is None:
            text = self._text = text_of(self.printed)
        return text

    @property
    def images(self) -> tuple[ImageSpan, ...]:
        """The placeholders of images among the segments, in order."""
        found = self._images
        if found is None:
            found = self._images = images_of(self.printed)
        return found

    @property
    def _segments(self) -> tuple[tuple[Segment, ...], tuple[tuple[int, int], ...]]:
        """All segments, and the ranges of them that are sampled."""
        made = self._made
        if made is None:
            rendering = rendering_of(self.printed)
            made = self._made = tuple(rendering.segments), tuple(rendering.sampled)
        return made


@dataclass(frozen=True, eq=False)
class ModelInput:
    """The tensors that a model receives (the chapter, section 1.9), and where every token came from.

    `input_ids`, `attention_mask` and `position_ids` are read-only int64 arrays of shape [n], one entry for each token.
    There is no padding: all of the mask is 1, and the positions are 0 to n - 1. Mask and positions are made
    when somebody asks for them.
    """

    input_ids: NDArray[np.int64]
    rendered: RenderedInput
    """What the template printed."""
    request: RequestModel = field(repr=False)
    """The typed request that it was made from."""
    _declared: Declarations = field(repr=False)
    _incoming: Incoming = field(repr=False)
    _tokenizer: Tokenizer = field(repr=False)
    _run_ends: Sequence[int] | None = field(repr=False)
    """Those of `assemble_array`, where the whole input was assembled at once and may be asked for its origins."""
    _passages: tuple[Passage, ...] | None = field(repr=False, default=None)
    """Those of an input that is put together otherwise."""
    _decision: PolicyDecision | None = field(repr=False, default=None)
    _official: RenderedInput | None = field(repr=False, default=None)
    _extensions: tuple[Extension, ...] = field(repr=False, default=())
    """The completions in the ids."""

    def __init__(
        self,
        input_ids: NDArray[np.int64],
        rendered: RenderedInput,
        request: RequestModel,
        _declared: Declarations,
        _incoming: Incoming,
        _tokenizer: Tokenizer,
        _run_ends: Sequence[int] | None,
        _passages: tuple[Passage, ...] | None = None,
        _decision: PolicyDecision | None = None,
        _official: RenderedInput | None = None,
        _extensions: tuple[Extension, ...] = (),
    ) -> None:
        own = self.__dict__  # written out, since each request makes one
        own["input_ids"] = input_ids
        own["rendered"] = rendered
        own["request"] = request
        own["_declared"] = _declared
        own["_incoming"] = _incoming
        own["_tokenizer"] = _tokenizer
        own["_run_ends"] = _run_ends
        own["_passages"] = _passages
        own["_decision"] = _decision
        own["_official"] = _official
        own["_extensions"] = _extensions

    def __len__(self) -> int:
        return len(self.input_ids)

    @cached_property
    def attention_mask(self) -> NDArray[np.int64]:
        """The tokens that are no padding, all of them: ones, int64 of shape [n]."""
        mask = np.ones(len(self), dtype=np.int64)
        mask.setflags(write=False)
        return mask

    @cached_property
    def position_ids(self) -> NDArray[np.int64]:
        """The place of each token: int64 of shape [n]."""
        positions = np.arange(len(self), dtype=np.int64)
        positions.setflags(write=False)
        return positions

    @cached_property
    def _ids(self) -> list[int]:
        """The same as `input_ids`."""
        ids: list[int] = self.input_ids.tolist()
        return ids

    @property
    def text(self) -> str:
        """The rendered string, control tokens as they are spelled."""
        return self.rendered.text

    @cached_property
    def origins(self) -> Origins:
        """The origin of each token: n entries.

        Raises ValueError for an input that was assembled with `origins=False`, as all does that is made of them.
        """
        segments = self.rendered.payload
        found = [
            passage.ranges(segments, start, self._tokenizer)
            for passage, start in zip(self._kept_passages, self._starts(), strict=True)
        ]
        return Origins(segments, np.concatenate(found), self._image_places)

    @cached_property
    def _image_places(self) -> tuple[ImagePlace, ...]:
        """Where the placeholders of its images and videos stand."""
        if not self.rendered.images:
            return ()
        from katapi.runtime.images.assembled import places_of  # few inputs have images

        return places_of(self.rendered.images, self.request)

    @cached_property
    def images(self) -> tuple[AssembledImage, ...]:
        """Its images whose bytes were at hand, in the order of their tokens."""
        if not self._image_places:
            return ()
        from katapi.runtime.images.assembled import AssembledImage, assembled

        found = assembled(self._image_places, self.origins.ranges)
        return tuple(one for one in found if isinstance(one, AssembledImage))

    @cached_property
    def videos(self) -> tuple[AssembledVideo, ...]:
        """Its videos whose frames were at hand, in the order of their tokens."""
        if not self._image_places:
            return ()
        from katapi.runtime.images.assembled import AssembledVideo, assembled

        found = assembled(self._image_places, self.origins.ranges)
        return tuple(one for one in found if isinstance(one, AssembledVideo))

    def pixel_inputs(self) -> dict[str, Array]:
        """What the model receives of the images and videos beside the ids, by the names of the official processor.

        The arrays of several are joined as the pipeline declares; each is of a type and shape that the pipeline says,
        and read-only. Without any whose bytes were at hand, there are none.
        """
        if not self._image_places:
            return {}
        from katapi.runtime.tensors.images import pixel_inputs_of  # few inputs have images

        return pixel_inputs_of([self])

    def _starts(self) -> list[int]:
        """The index of the first segment of each passage."""
        return [0, *(passage.stop for passage in self._kept_passages if passage.stop is not None)]

    def without_origins(self) -> ModelInput:
        """The same input, which no longer knows where its tokens came from."""
        return ModelInput(
            self.input_ids,
            self.rendered,
            self.request,
            self._declared,
            self._incoming,
            self._tokenizer,
            None,
            None,
            self._decision,
            self._official,
            self._extensions,
        )

    @property
    def _kept_passages(self) -> tuple[Passage, ...]:
        if self._run_ends is not None:
            return (AssembledPassage(self.input_ids, self._run_ends),)
        if self._passages is None:
            raise ValueError("the input was assembled with origins=False; assemble it without that to ask for them")
        return self._passages

    @cached_property
    def departures(self) -> tuple[Departure, ...]:
        """Where the ids of an extended input are not those of its whole request, assembled anew.

        They are where the template prints the past otherwise once the conversation has gone on, where the model wrote
        a reply otherwise than the template, and where it cut its text otherwise than the tokenizer. None in an input
        that was not extended.
        """
        if self._official is None:
            return ()
        from katapi.runtime.departures import Side, departures  # only who asks needs it

        ids, run_ends = assemble_ids(self._official.printed, self._tokenizer)
        if ids == self._ids:
            return ()
        official, own = self._official.payload, self.rendered.payload
        runs = zip(self._kept_passages, self._starts(), strict=True)
        return departures(
            Side(own, self._ids, [*chain.from_iterable(passage.portions(own, start) for passage, start in runs)]),
            Side(official, ids, [*portions(official, run_ends, (0, len(official)))]),
        )

    @cached_property
    def sampled(self) -> NDArray[np.bool_]:
        """Whether the model itself would have generated each token, bool of shape [n].

        A token that a merge made across the seam of a sampled region is not sampled.
        """
        return self._covered(self.rendered.sampled)

    def _covered(self, regions: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
        """Whether all segments that a token covers stand in the regions."""
        flags = np.zeros(len(self.rendered.payload) + 1, dtype=np.int64)
        for start, end in regions:
            flags[start:end] = 1
        before = np.concatenate(([0], np.cumsum(flags)))
        first, end_ = self.origins.ranges[:, 0], self.origins.ranges[:, 1]
        covered: NDArray[np.bool_] = before[end_] - before[first] == end_ - first
        return covered

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """What a model is to predict: the id of each sampled token, -100 elsewhere; read-only int64 of shape [n].

        A label stands at its own token; models of transformers, which predict it from the token before, expect that.
        The first token has none. To train on some messages only: `katapi.Sample.of(x.input_ids, x.loss_mask("last"))`.
        """
        from katapi.runtime.tensors.labels import labels_of  # few processes train

        return labels_of(self.input_ids, self.sampled)

    def check_rows(self, rows: int) -> None:
        """Raises `TokenizerError` V123 where an id has no row in an embedding of `rows`."""
        from katapi.runtime.tensors.embedding import refuse_beyond  # few processes ask

        refuse_beyond(self.input_ids, rows, ("token",))

    def loss_mask(self, messages: Literal["all", "last"] | Collection[int] = "all") -> NDArray[np.bool_]:
        """The tokens to train on: those of `sampled` that belong to some messages, bool of shape [n].

        `messages` are places in the request's list, counted from 0; `last` stands for the last message of the role
        `assistant` of which anything is sampled. Raises IndexError where the request has no such message, and
        ValueError for another word.

        A sampled region belongs to the message that its contents come from; `owners_of` says whose one without a
        content is (an empty answer, of which only the closing token is sampled, or the header of the next message,
        where that is what ends a reply).
        """
        if isinstance(messages, str) and messages not in ("all", "last"):
            raise ValueError(f"messages are 'all', 'last' or places in the request, not {messages!r}")
        return self.sampled if messages == "all" else self._covered(self._regions(messages))

    def _regions(self, messages: Literal["last"] | Collection[int]) -> list[tuple[int, int]]:
        """The sampled regions that belong to some messages."""
        owners = owners_of(self.rendered.payload, self.rendered.sampled, self._roles())
        chosen = set(owners[-1:]) if messages == "last" else {self._place(index) for index in messages}
        return [region for region, owner in zip(self.rendered.sampled, owners, strict=True) if owner in chosen]

    def _roles(self) -> list[str]:
        """The role of each message of the request."""
        return [message.role for message in getattr(self.request, "messages", ())]

    def _place(self, index: int) -> int:
        count = len(self._roles())
        if not 0 <= index < count:
            raise IndexError(f"there is no message {index}: the request has {count}")
        return index

    @cached_property
    def record(self) -> ExecutionRecord:
        """The record of this execution, as the chapter asks for it in section 1.11."""
        declared = self._declared
        return ExecutionRecord(
            model=declared.model,
            environment=environment(),
            incoming=self._incoming,
            request_rules=declared.request_rules,
            request=self.request.model_dump(mode="json", exclude_unset=True),
            defaults=defaults_of(self.request),
            decision=self._decision,
            template=declared.template,
            segments=self.rendered.payload,
            sampled_segments=self.rendered.sampled,
            tokenizer=declared.tokenizer,
            tokenizer_parts=declared.tokenizer_parts,
            runs=tuple(Run((begin, end), (first, behind)) for begin, end, first, behind in self._runs()),
            input_ids=tuple(self._ids),
            attention_mask=tuple(self.attention_mask.tolist()),
            position_ids=tuple(self.position_ids.tolist()),
            extensions=self._extensions,
            images=tuple(self._recorded_images()),
            media=self._media(),
            load=self._way(),
            policy=None if self._decision is None else self._decision.budget,
        )

    def digests(self) -> dict[Stage, str]:
        """The light form of the record, to be logged for each request: the digest of each stage.

        It is what `record.digests()` gives, and no record is made for it.
        """
        from katapi.runtime.light_record import light_digests  # only who logs them needs it

        images = tuple(self._recorded_images())
        return light_digests(self, images, self._runs(), self._arrays())

    def _arrays(self) -> dict[str, NDArray[np.int64]]:
        return {
            "input_ids": self.input_ids,
            "attention_mask": self.attention_mask,
            "position_ids": self.position_ids,
        }

    def _recorded_images(self) -> Iterator[JsonObject]:
        """Its images in the order of their tokens, as plain JSON."""
        if self._image_places:
            from katapi.runtime.images.assembled import numbers_of, recorded  # few inputs have images

            numbers = numbers_of(self._offered)
            for place in self._image_places:
                yield recorded(place.path, place.span.placeholder, numbers[place.span.placeholder])

    def _media(self) -> tuple[Medium, ...]:
        """The images that came beside the request, those that a budget left out among them."""
        from katapi.runtime.images.assembled import media_of  # few inputs are recorded

        return media_of(self._offered)

    def _way(self) -> str | None:
        """The way in which its images came in, where one was chosen."""
        from katapi.runtime.images.assembled import way_of  # few inputs are recorded

        return way_of(self._offered)

    @property
    def _offered(self) -> RequestModel:
        """The request with all that a budget left out."""
        offered = None if self._decision is None else self._decision.offered
        return self.request if offered is None else offered

    def _runs(self) -> Iterator[tuple[int, int, int, int]]:
        """The runs of text and the control tokens between, in order: a range of segments and a range of ids."""
        segments, ids = self.rendered.payload, 0
        passages = self._kept_passages
        for passage, start in zip(passages, self._starts(), strict=True) if passages else ():
            for begin, end, count in passage.portions(segments, start):
                yield begin, end, ids, ids + count
                ids += count
