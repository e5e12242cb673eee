"""Tokenizers of several libraries, asked for many texts at a time."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dali_core._extras import install_command
from dali_core._runtime.integer_lists import integers
from dali_core._runtime.thread_start import map_in_threads
from dali_core.errors import ArgumentTypeError, ArgumentValueError, MissingModuleError

_WORTH_A_THREAD = 1 << 14
"""Characters that take longer than a thread needs to start."""

_EXPECTED = (
    "tokenizer must be a tokenizers.Tokenizer, its JSON or the path of a file with it, a "
    "sentencepiece.SentencePieceProcessor or a tiktoken.Encoding"
)


class Tokens(NamedTuple):
    """The tokens of a text.

    Attributes
    ----------
    numbers : array of int32
        Their numbers.
    offsets : sequence of (int, int)
        The first character of each, and the one after its last one; empty if not asked for.
    """

    numbers: NDArray[np.int32]
    offsets: Sequence[tuple[int, int]] = ()


class Settings(NamedTuple):
    """How texts are tokenized; see the arguments of `fn.tokenize`."""

    add_special_tokens: bool
    max_length: int | None
    truncation_side: str
    offsets: bool


class BatchTokenizer(ABC):
    """Tokenizes texts; what it raises is about one of them."""

    @abstractmethod
    def encode(self, texts: Sequence[str], num_threads: int) -> list[Tokens]:
        """Return the tokens of each text."""


def portable(tokenizer: Any) -> Any:
    """Return the JSON of a tokenizer, which documents of pipelines may have; or else itself.

    Parameters
    ----------
    tokenizer : object
        What the user passes.

    Raises
    ------
    ArgumentValueError
        If a file cannot be read.
    """
    if isinstance(tokenizer, os.PathLike) or (
        isinstance(tokenizer, str) and not tokenizer.lstrip().startswith("{")
    ):
        path = os.fspath(tokenizer)
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ArgumentValueError(
                f"{_EXPECTED} (got {path!r:.200}: {reason}). Check the path."
            ) from error
    # Fast tokenizers of Transformers, and the classes of tokenizers.implementations.
    for name in ("backend_tokenizer", "_tokenizer"):
        if _library_of(tokenizer) in ("transformers", "tokenizers"):
            tokenizer = getattr(tokenizer, name, tokenizer)
    if _library_of(tokenizer) != "tokenizers":
        return tokenizer
    try:
        return tokenizer.to_str()
    except Exception:  # parts of it are in Python
        return tokenizer


def open_tokenizer(tokenizer: Any, settings: Settings) -> BatchTokenizer:
    """Make a tokenizer of what `portable` has returned.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it cannot be used, or not with these settings.
    MissingModuleError
        If its library is not installed.
    """
    library = _library_of(tokenizer)
    if isinstance(tokenizer, str) or library == "tokenizers":
        return _HuggingFace(tokenizer, settings)
    if library not in ("sentencepiece", "tiktoken"):
        raise ArgumentTypeError(f"{_EXPECTED} (got {tokenizer!r:.100}). Pass one of these.")
    if settings.offsets:
        raise ArgumentValueError(
            f"offsets must be False with a tokenizer of {library} (got True), which does not give "
            "them. Leave it out, or convert the tokenizer for the package tokenizers."
        )
    return (_SentencePiece if library == "sentencepiece" else _Tiktoken)(tokenizer, settings)


def _library_of(tokenizer: Any) -> str:
    """Return the package that a tokenizer's class is from, without importing it."""
    for kind in type(tokenizer).__mro__:
        library = kind.__module__.partition(".")[0]
        if library in ("tokenizers", "transformers", "sentencepiece", "tiktoken"):
            return library
    return ""


class _HuggingFace(BatchTokenizer):
    def __init__(self, tokenizer: Any, settings: Settings) -> None:
        if isinstance(tokenizer, str):
            _refuse_chance(tokenizer)
        # One with parts in Python cannot be copied; what is set here is set in the user's.
        self._tokenizer = _from_json(tokenizer) if isinstance(tokenizer, str) else tokenizer
        self._tokenizer.no_padding()
        if settings.max_length is not None:
            num_added = self._tokenizer.num_special_tokens_to_add(is_pair=False)
            num_added *= settings.add_special_tokens
            if settings.max_length < num_added:
                raise ArgumentValueError(
                    f"max_length must be at least {num_added}, the special tokens of a text (got "
                    f"{settings.max_length}). Raise it, or set add_special_tokens to False."
                )
            self._tokenizer.enable_truncation(
                settings.max_length, direction=settings.truncation_side
            )
        # The faster one computes no offsets.
        self._encode = (
            self._tokenizer.encode_batch if settings.offsets else self._tokenizer.encode_batch_fast
        )
        self._settings = settings

    def encode(self, texts: Sequence[str], num_threads: int) -> list[Tokens]:
        """Return the tokens of each text."""
        parts = _parts(texts, 1 if _has_own_threads() else num_threads)
        if len(parts) == 1:
            return self._encode_part(parts[0])
        found = map_in_threads(self._encode_part, parts, len(parts))
        return [tokens for part in found for tokens in part]

    def _encode_part(self, texts: Sequence[str]) -> list[Tokens]:
        try:
            found = self._encode(texts, add_special_tokens=self._settings.add_special_tokens)
        except BaseException as error:
            # What fails in Rust is no Exception.
            if type(error).__name__ != "PanicException":
                raise
            raise ValueError(f"the tokenizer has failed: {error}") from error
        # One list of integers at a time: its memory is used again while it is in the cache.
        if self._settings.offsets:
            return [Tokens(_array(one.ids), one.offsets) for one in found]
        return [Tokens(_array(one.ids)) for one in found]


class _SentencePiece(BatchTokenizer):
    def __init__(self, tokenizer: Any, settings: Settings) -> None:
        self._tokenizer = tokenizer
        self._settings = settings
        # By default as the processor was made.
        self._special = {} if settings.add_special_tokens else {"add_bos": False, "add_eos": False}

    def encode(self, texts: Sequence[str], num_threads: int) -> list[Tokens]:
        """Return the tokens of each text."""
        found = self._tokenizer.encode(
            list(texts),
            out_type=int,
            enable_sampling=False,
            num_threads=num_threads,
            **self._special,
        )
        return [Tokens(_array(_truncated(numbers, self._settings))) for numbers in found]


class _Tiktoken(BatchTokenizer):
    def __init__(self, tokenizer: Any, settings: Settings) -> None:
        self._tokenizer = tokenizer
        self._settings = settings

    def encode(self, texts: Sequence[str], num_threads: int) -> list[Tokens]:
        """Return the tokens of each text, in which names of special tokens are text."""
        parts = _parts(texts, num_threads)
        encode = self._tokenizer.encode_ordinary  # without the GIL

        def encode_part(part: Sequence[str]) -> list[Tokens]:
            return [Tokens(_array(_truncated(encode(text), self._settings))) for text in part]

        if len(parts) == 1:
            return encode_part(parts[0])
        found = map_in_threads(encode_part, parts, len(parts))
        return [tokens for part in found for tokens in part]


def _has_own_threads() -> bool:
    """Return whether the package tokenizers divides batches itself, by its rule."""
    value = os.environ.get("TOKENIZERS_PARALLELISM")
    return value is None or value.lower() not in ("", "off", "false", "f", "no", "n", "0")


def _array(numbers: Sequence[int]) -> NDArray[np.int32]:
    given = numbers if isinstance(numbers, list) else list(numbers)
    found: NDArray[np.int32] = integers(given, np.int32)
    return found


def _truncated(numbers: Sequence[int], settings: Settings) -> Sequence[int]:
    most = settings.max_length
    if most is None or len(numbers) <= most:
        return numbers
    return numbers[:most] if settings.truncation_side == "right" else numbers[-most:]


def _parts(texts: Sequence[str], num_threads: int) -> list[Sequence[str]]:
    """Divide texts into about equally long parts, for threads."""
    ends: list[int] = []
    total = 0
    for text in texts:
        total += len(text)
        ends.append(total)
    count = max(1, min(num_threads, total // _WORTH_A_THREAD, len(texts)))
    parts: list[Sequence[str]] = []
    start = 0
    for number in range(1, count + 1):
        stop = start
        while stop < len(texts) and (number == count or ends[stop] * count <= total * number):
            stop += 1
        if stop > start:
            parts.append(texts[start:stop])
        start = stop
    return parts or [texts]


def _from_json(text: str) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingModuleError(
            f"fn.tokenize needs the package tokenizers (got none: {error}). Install it: "
            f"{install_command('text')}."
        ) from error
    try:
        return Tokenizer.from_str(text)
    except Exception as error:
        raise ArgumentValueError(
            f"{_EXPECTED} (got JSON that tokenizers cannot read: {error}). Save it again with "
            "Tokenizer.save."
        ) from error


def _refuse_chance(text: str) -> None:
    """Raise an error for a tokenizer that gives other tokens each time.

    Raises
    ------
    ArgumentValueError
        If it is one.
    """
    try:
        model = json.loads(text).get("model") or {}
        dropout = model.get("dropout")
    except (AttributeError, ValueError, RecursionError):
        return  # which tokenizers refuses
    if dropout:
        raise ArgumentValueError(
            f"tokenizer must give the same tokens each time (got a dropout of {dropout}, which "
            "leaves out merges at random). Set tokenizer.model.dropout to None."
        )
