"""A generated model: request bytes to segments to ids, and ids back to text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.assembly import assemble_array
from katapi.runtime.budget.policy import Budget
from katapi.runtime.budget.starts import Starts
from katapi.runtime.dataclass import dataclass
from katapi.runtime.declared_tokenizer import DeclaredTokenizer
from katapi.runtime.errors import BudgetError, ReplyError
from katapi.runtime.json_types import JsonObject
from katapi.runtime.known_runs import KnownRuns
from katapi.runtime.model_input import ModelInput, RenderedInput
from katapi.runtime.printed import Printed
from katapi.runtime.record import Declarations, Identity, Incoming
from katapi.runtime.request_model import DecodedRequest, RequestModel, decode_request
from katapi.runtime.strict_json import InvalidUtf8
from katapi.runtime.tokenization.ids import as_ids

if TYPE_CHECKING:
    from katapi.runtime.budget.reach import Reach, Unbounded

if TYPE_CHECKING:  # few processes read replies, and these modules count in the first token
    from katapi.runtime.images.given import Images
    from katapi.runtime.images.placing import Shown
    from katapi.runtime.reply.grammar import Reply
    from katapi.runtime.reply.message import AssistantMessage
    from katapi.runtime.reply.parser import ReplyParser

R = TypeVar("R", bound=RequestModel)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why the replies of a model cannot be read."""

    where: str
    """The place in the spec, as comments name it."""
    why: str
    """What is wrong there."""


@dataclass(frozen=True, eq=False)
class Model(DeclaredTokenizer, Generic[R]):
    """One model's input layer, as its generated package puts it together.

    I = Assemble(Tok(Render(R))) (the chapter, section 1.1): `decode_request`, `render` and `assemble` are the stages;
    `assemble` runs them all.
    """

    template: Identity
    """The name and version of the template, and the digest of its meaning."""
    request_rules: Identity
    """The name and version of the request rules, and the digest of their meaning."""
    request_type: type[R]
    """The generated type of a request."""
    invalid_utf8: InvalidUtf8
    """What becomes of bytes of a request that are not UTF-8: "strict" or "replace"."""
    max_depth: int
    """How deep the JSON of a request may nest; the outermost object has depth 1."""
    budgets: Mapping[str, Budget]
    """The budget policies of the spec, by the names that `assemble` takes."""
    _starts: Starts
    """Where the template begins to print a message."""
    _render: Callable[[R], list[Printed]]
    _reach: Callable[[], Reach[R]] | Unbounded
    _reply: Callable[[], Reply] | Unreadable
    _shown: Shown | None = None

    def decode_request(self, raw: bytes, params: JsonObject | None = None) -> R:
        """OpenAI-style JSON bytes as a typed, immutable request.

        `params` are keys of the request, in place of those of the same name in `raw`. Raises `RequestError`: R100 to
        R109 for the text (RFC 8259, read strictly), R110 to R119 for the shape.
        """
        if not isinstance(raw, bytes):
            raise self._no_request(raw)
        return self._decode(raw, params).request

    @cached_property
    def _declared(self) -> Declarations:
        """All declarations of the model by their identities."""
        return Declarations(self.name, self.request_rules, self.template, self.tokenizer_identity, self.tokenizer_parts)

    @cached_property
    def _typed(self) -> Incoming:
        """What is said of a request that came as a typed one."""
        return Incoming(None, None, self.invalid_utf8, self.max_depth)

    @cached_property
    def _known_runs(self) -> KnownRuns:
        """Runs of text that were encoded before."""
        return KnownRuns(self.tokenizer)

    def _decode(self, raw: bytes, params: JsonObject | None) -> DecodedRequest[R]:
        return decode_request(
            self.request_type, raw, invalid_utf8=self.invalid_utf8, max_depth=self.max_depth, params=params
        )

    def render(self, request: R | bytes) -> RenderedInput:
        """What the template prints for a request.

        Raises `RequestError` as `decode_request` does, R100 to R119, for a request in bytes, and
        `TemplateError`: T100 for a `reject` of the template, T101, T102, T103 for a content that spells a boundary
        which the template refuses, and T140 to T143 for JSON that cannot be printed.
        """
        if isinstance(request, bytes):
            request = self.decode_request(request)
        elif not isinstance(request, self.request_type):
            raise self._no_request(request)
        return RenderedInput(self._render(request), self.template)

    def assemble(
        self,
        request: R | bytes,
        policy: str | Budget | None = None,
        *,
        params: JsonObject | None = None,
        images: Images | None = None,
        origins: bool = True,
    ) -> ModelInput:
        """The ids, mask and positions of a request; `policy` is a budget, or names one of the spec.

        Within a budget, what is required is kept whole and the rest as far as it fits (the chapter, section 1.7); the
        record's `decision` has each choice.

        `images` are the images that are attached, and what the request may name beside; `pixel_inputs` of the result
        has what the model receives of them. Without images whose bytes are at hand, the template prints what stands for
        one; so for a model whose template names no pipeline.

        `params` are keys of the request, in place of those of the same name in its bytes. The record's `request_sha256`
        is that of the bytes, and None where they are not the whole request: with `params`, or for a typed request.

        Where tokens came from is worked out when somebody asks for it. With `origins=False` what that takes is not
        kept: then `origins`, `sampled`, `record` and what is made of them raise ValueError, and so does `extend`.

        Raises `RequestError` R100 to R119, `TemplateError` T100 to T103 and T140 to T143, `TokenizerError`
        V101 for a lone surrogate and V107 for a character that is no token where no token is unknown, `BudgetError`
        B101 for a policy that is not declared, B100 where what is required does not fit the window, and B102 where the
        policy cuts tokens off and no cut breaks only what it may, and `MediaError` M100 to M109 for an image that
        cannot be processed, M120 to M124 where not all images or not their bytes are at hand, M125 where the template
        prints not each once, M126 where the vocabulary lacks what stands for one, and M127 where the model shows none.
        """
        if isinstance(request, bytes):
            decoded = self._decode(request, params)
            incoming = Incoming(request, params or None, self.invalid_utf8, self.max_depth, decoded.substitutions)
            request = decoded.request
        elif not isinstance(request, self.request_type):
            raise self._no_request(request)
        elif params:
            raise TypeError("params go with a request in bytes; a typed request holds its own")
        else:
            incoming = self._typed
        shows = self._shown is not None and self._holds_parts(request)
        if shows or images is not None:
            request = self._with_images(request, images)
        if policy is None:
            return self._whole(request, incoming, shows=shows, origins=origins)
        budget = self._budget(policy)
        from katapi.runtime.budget.apply import assemble_within  # many inputs have no budget

        # A budget that cuts tokens off asks for their origins.
        within = assemble_within(
            self, request, budget, partial(self._whole, incoming=incoming, shows=shows, origins=True)
        )
        return within if origins else within.without_origins()

    def _whole(self, request: R, incoming: Incoming, *, shows: bool, origins: bool) -> ModelInput:
        """A request whose images have their placeholders, assembled with all that is in it."""
        rendered = RenderedInput(self._render(request), self.template)
        if shows:
            self._check_images(rendered, request)
        known = self._known_runs
        tokenizer = known.tokenizer
        ids, run_ends = assemble_array(rendered.printed, tokenizer, known=known)
        kept = run_ends if origins else None
        return ModelInput(ids, rendered, request, self._declared, incoming, tokenizer, kept)

    @cached_property
    def _holds_parts(self) -> Callable[[object], bool]:
        """Whether a request has parts that carry images or videos."""
        from katapi.runtime.images.placing import holds_parts  # few models show images

        return holds_parts

    def _with_images(self, request: R, images: Images | None, past: int = 0) -> R:
        """A request with what stands for its images whose bytes are at hand; `past` messages stay as they are."""
        if self._shown is None and images is None:
            return request
        from katapi.runtime.images.given import NO_IMAGES  # few requests have images
        from katapi.runtime.images.given import Images as Given
        from katapi.runtime.images.placing import placed

        if not isinstance(images, Given | None):
            raise TypeError(f"images are a katapi.Images, not a {_type_of(images)}")
        return placed(request, self._shown, NO_IMAGES if images is None else images, past)

    def _check_images(self, rendered: RenderedInput, request: R) -> None:
        """Raises `MediaError` M125 where the template does not print each image once; all of them are processed."""
        if self._shown is not None:
            from katapi.runtime.images.assembled import check_images

            check_images(rendered.images, request)

    def extend(
        self,
        prev: ModelInput,
        completion_ids: Sequence[int] | NDArray[np.int64],
        new_messages: bytes | Sequence[JsonObject],
        *,
        reply: JsonObject | None = None,
        generate: bool = True,
        policy: str | Budget | None = None,
        images: Images | None = None,
    ) -> ModelInput:
        """The input of the next turn: a prompt, what the model sampled to it, and what was said then.

        `prev` is an input that `assemble` or `extend` gave. Its ids and `completion_ids`, a list or int64 of shape [m],
        stay as they are; the closing token is added where sampling was cut off before it. `new_messages` are a JSON
        array in bytes, or its messages.
        `reply` is what the completion says, as a message of the request; without it, the completion is parsed. With
        `generate` the generation prefix stands at the end; without it, `new_messages` may be empty. `policy` is a
        budget, or names one of the spec; nothing is left out of a conversation that goes on, so all of it must fit.
        `images` are those of the new messages, as `assemble` has them.

        Where the template would print the whole conversation otherwise, the input has `departures`.

        Raises `ExtensionError` X100 to X108 for an input that cannot go on so, `RequestError` R100 to R119 for
        the new messages, `TemplateError` T100 to T102 and T140 to T143 where the template refuses the conversation,
        `TokenizerError` V101 and V107 for their texts, `BudgetError` B100 and B101, and `MediaError` M100 to M109 and
        M120 to M127 as `assemble` does.
        """
        from katapi.runtime.extension import extend_input  # no first turn needs it

        budget = None if policy is None else self._budget(policy)
        ids = as_ids(completion_ids)
        return extend_input(self, prev, ids, new_messages, reply, budget, images, generate=generate)

    def parse(self, completion_ids: Sequence[int], prompt: ModelInput | None = None) -> AssistantMessage:
        """What a model sampled, taken apart: content, reasoning and calls of tools.

        It is the inverse of what the template prints for a message of the assistant: a token marks what it marks there,
        and a text that spells a token does not. `completion_ids` are what was sampled behind `prompt`, with or without
        the closing token. Without a `prompt` the reply is read as one to the prompt of a request that leaves all
        parameters out; where that cannot be, as one to another prompt.

        What the template would not have printed is told in `faults`; the rest is read. Raises `ReplyError` P110 where
        the spec does not say how a reply is read, and `TokenizerError` V102 on an unknown id.
        """
        from katapi.runtime.reply.parser import parse

        return parse(self._grammar(), self.tokenizer, completion_ids, prompt)

    def parser(self, prompt: ModelInput | None = None) -> ReplyParser:
        """The same for ids that arrive one by one: `push` each, and `finish`.

        Without a `prompt` the reply is read as one to the prompt of a request that leaves all parameters out. Raises
        `ReplyError` P110 where the spec does not say how a reply is read.
        """
        from katapi.runtime.reply.parser import parser

        return parser(self._grammar(), self.tokenizer, prompt)

    def _grammar(self) -> Reply:
        reply = self._reply
        if isinstance(reply, Unreadable):
            raise ReplyError(
                f"the template does not say how a reply is read: {reply.why}",
                code="P110",
                where=reply.where,
                help="say in a `parse` block what the model writes",
            )
        return reply()

    def _no_request(self, value: object) -> TypeError:
        """What to raise for a value that no type checker would have let through."""
        own = f"{self.request_type.__module__}.{self.request_type.__qualname__}"
        message = f"{self.name} takes a request as bytes or as a {own}, not as a {_type_of(value)}"
        if isinstance(value, str):
            message += "; encode the text"
        elif isinstance(value, dict):
            message += "; write it as JSON"
        return TypeError(message)

    def _budget(self, policy: str | Budget) -> Budget:
        if isinstance(policy, Budget):
            return policy
        if not isinstance(policy, str):
            raise TypeError(f"a policy is a Budget or the name of one in a str, not a {_type_of(policy)}")
        budget = self.budgets.get(policy)
        if budget is None:
            known = f"declared: {', '.join(self.budgets)}"
            none = "its spec declares none: write a `budget` there, or `use` a file of budgets"
            raise BudgetError(
                f"{self.name} has no budget policy {policy!r}",
                code="B101",
                where="policy",
                help=known if self.budgets else none,
            )
        return budget


def _type_of(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
