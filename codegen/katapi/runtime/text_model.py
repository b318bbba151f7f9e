"""A tokenizer under the name of a model: what `katapi.load` gives for one that has no template."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from katapi.runtime.budget.policy import Budget
from katapi.runtime.budget.reach import Unbounded
from katapi.runtime.budget.starts import Starts
from katapi.runtime.declared_tokenizer import DeclaredTokenizer
from katapi.runtime.errors import ArtifactError
from katapi.runtime.json_types import JsonObject
from katapi.runtime.model import Model, Unreadable
from katapi.runtime.model_input import ModelInput
from katapi.runtime.record import Identity
from katapi.runtime.request_model import RequestModel

if TYPE_CHECKING:
    from katapi.runtime.images.given import Images


class TextModel(Model[RequestModel]):
    """Encodes and decodes as the tokenizer does; what needs a template raises ArtifactError A144."""

    def decode_request(self, raw: bytes, params: JsonObject | None = None) -> NoReturn:
        """Raises ArtifactError A144: no template says what a request is."""
        raise self._no_template()

    def render(self, request: RequestModel | bytes) -> NoReturn:
        """Raises ArtifactError A144: there is no template to print a request."""
        raise self._no_template()

    def assemble(
        self,
        request: RequestModel | bytes,
        policy: str | Budget | None = None,
        *,
        params: JsonObject | None = None,
        images: Images | None = None,
        origins: bool = True,
    ) -> NoReturn:
        """Raises ArtifactError A144: there is no template to print a request."""
        raise self._no_template()

    def parse(self, completion_ids: Sequence[int], prompt: ModelInput | None = None) -> NoReturn:
        """Raises ArtifactError A144: there is no template that says how a reply is read."""
        raise self._no_template()

    def parser(self, prompt: ModelInput | None = None) -> NoReturn:
        """Raises ArtifactError A144: there is no template that says how a reply is read."""
        raise self._no_template()

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
    ) -> NoReturn:
        """Raises ArtifactError A144: there is no template to print messages.

        `completion_ids` may be int64 of shape [m].
        """
        raise self._no_template()

    def _no_template(self) -> ArtifactError:
        return ArtifactError(
            f"{self.name!r} is a tokenizer without a template",
            code="A144",
            where=self.name,
            help="it encodes and decodes text; for requests load a name that `katapi.models()` lists",
        )


@cache
def text_model(tokenizer: DeclaredTokenizer) -> TextModel:
    """The one model of a tokenizer."""
    return TextModel(
        name=tokenizer.name,
        source=tokenizer.source,
        tokenizer_identity=tokenizer.tokenizer_identity,
        tokenizer_parts=tokenizer.tokenizer_parts,
        _tokenizer=tokenizer._tokenizer,
        template=Identity("none", ""),
        request_rules=Identity("none", ""),
        request_type=RequestModel,
        invalid_utf8="strict",
        max_depth=0,
        budgets={},
        _starts=Starts(),
        _render=lambda _: [],
        _reach=Unbounded("", "it has none"),
        _reply=Unreadable("", "it has none"),
    )
