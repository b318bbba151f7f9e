"""What every reader of tokenizer files gives: the rules and the data."""

from __future__ import annotations

from katapi.runtime.dataclass import dataclass
from katapi.runtime.tokenization.configuration import TokenizerConfiguration
from katapi.runtime.tokenization.vocabulary_data import VocabularyData


@dataclass(frozen=True, eq=False, slots=True)
class TokenizerFile:
    """A tokenizer as a file describes it: `configuration` has the rules, `data` what they are about."""

    configuration: TokenizerConfiguration
    data: VocabularyData
