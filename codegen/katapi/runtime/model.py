"""A generated model: request bytes to segments to ids, and ids back to text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from katapi.runtime.assembly import assemble_ids
from katapi.runtime.errors import BudgetError, TokenizerError
from katapi.runtime.model_input import ModelInput, RenderedInput, Source, tensors
from katapi.runtime.record import Identity, PolicyDecision
from katapi.runtime.request_model import RequestModel, decode_request
from katapi.runtime.segments import Rendering
from katapi.runtime.strict_json import InvalidUtf8, Substitution
from katapi.runtime.tokenization.interface import Decoder, Tokenizer

R = TypeVar("R", bound=RequestModel)


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget policy: window and reserve in tokens (chapter 1, section 1.7)."""

    id: str
    window: int
    reserve: int


@dataclass(frozen=True, eq=False)
class Model(Generic[R]):
    """One model's input layer, as its generated package puts it together.

    I = Assemble(Tok(Render(R))): `decode_request`, `render` and `assemble` are the stages; `assemble` runs them all.
    """

    name: str
    source: str
    template: Identity
    tokenizer_identity: Identity
    request_type: type[R]
    invalid_utf8: InvalidUtf8
    max_depth: int
    budgets: Mapping[str, Budget]
    _render: Callable[[R], Rendering]
    _tokenizer: Callable[[], Tokenizer]

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, built on first use."""
        return self._tokenizer()

    def decode_request(self, raw: bytes) -> R:
        """OpenAI-style JSON bytes as a typed, immutable request. Raises RequestError."""
        return self._decode(raw)[0]

    def _decode(self, raw: bytes) -> tuple[R, tuple[Substitution, ...]]:
        decoded = decode_request(self.request_type, raw, invalid_utf8=self.invalid_utf8, max_depth=self.max_depth)
        return decoded.request, decoded.substitutions

    def render(self, request: R | bytes) -> RenderedInput:
        """What the template prints for a request. Raises RequestError, TemplateError."""
        if isinstance(request, bytes):
            request = self.decode_request(request)
        return RenderedInput(self._render(request), self.template)

    def assemble(self, request: R | bytes, policy: str | None = None) -> ModelInput:
        """The ids, mask and positions of a request; `policy` names a budget of the spec.

        Raises RequestError, TemplateError, TokenizerError, and BudgetError where the policy refuses.
        """
        digest: str | None = None
        substitutions: tuple[Substitution, ...] = ()
        if isinstance(request, bytes):
            digest = hashlib.sha256(request).hexdigest()
            request, substitutions = self._decode(request)
        budget = None if policy is None else self._budget(policy)
        rendered = self.render(request)
        tokenizer = self.tokenizer
        ids, runs = assemble_ids(rendered.payload, tokenizer)
        decision = None if budget is None else _decide(budget, len(ids))
        source = Source(self.name, digest, request, substitutions, self.template, self.tokenizer_identity)
        return ModelInput(*tensors(ids), rendered, ids, runs, tokenizer, source, decision)

    def _budget(self, policy: str) -> Budget:
        budget = self.budgets.get(policy)
        if budget is None:
            known = ", ".join(self.budgets) or "none"
            raise BudgetError(
                f"{self.name} has no budget policy {policy!r}", code="B101", where="policy", help=f"declared: {known}"
            )
        return budget

    # ---- text and ids without a template

    def encode(self, text: str | bytes, post_process: bool = False) -> list[int]:
        """The ids of content: no text reaches a control id. Bytes are UTF-8.

        `post_process` adds what the tokenizer's post-processor adds; one that declares `post: none` adds nothing.
        Raises TokenizerError for bytes that are not UTF-8 and for a lone surrogate.
        """
        if isinstance(text, bytes):
            try:
                text = text.decode("utf-8")
            except UnicodeDecodeError as error:
                raise TokenizerError(
                    f"the bytes are not UTF-8: {error.reason}", code="V110", where=f"byte {error.start}"
                ) from None
        return self.tokenizer.encode(text)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that ids stand for, control tokens as they are spelled. Raises TokenizerError."""
        return self.tokenizer.decode(ids)

    def decode_text(self, ids: Sequence[int]) -> str:
        """`decode` as text; what is no whole character becomes U+FFFD, as the official decoder prints it."""
        return self.tokenizer.decode_text(ids)

    def decoder(self) -> Decoder:
        """An incremental decoder for one completion."""
        return self.tokenizer.decoder()


def _decide(budget: Budget, count: int) -> PolicyDecision:
    """Whether an input fits; nothing is cut silently."""
    if count + budget.reserve > budget.window:
        over = count + budget.reserve - budget.window
        raise BudgetError(
            f"the input has {count} tokens and {budget.reserve} are reserved for the answer; "
            f"the window is {budget.window}",
            code="B100",
            where=f"policy {budget.id}",
            help=f"shorten the conversation by {over} tokens",
        )
    return PolicyDecision(budget.id, budget.window, budget.reserve, count)
