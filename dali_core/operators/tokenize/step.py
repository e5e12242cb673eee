"""The step behind `fn.tokenize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._runtime.step import (
    SampleFailed,
    Step,
    StepContext,
    StepOutput,
    fill_failed,
    note_failure,
)
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._types import to_numpy_type
from dali_core.errors import ArgumentTypeError
from dali_core.operators.tokenize.tokenizers import Settings, Tokens, open_tokenizer


class TokenizeStep(Step):
    """Tokenizes batches of texts.

    Parameters
    ----------
    arguments : dict
        Checked arguments of `fn.tokenize`.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        settings = Settings(
            arguments["add_special_tokens"],
            arguments.get("max_length"),
            arguments["truncation_side"],
            arguments["offsets"],
        )
        self._tokenizer = open_tokenizer(arguments["tokenizer"], settings)
        self._with_offsets = settings.offsets
        self._dtype = to_numpy_type(arguments["dtype"])
        self._num_threads = 1

    def use_threads(self, num_threads: int) -> None:
        """Tokenize in as many threads."""
        self._num_threads = num_threads

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Tokenize a batch."""
        (batch,) = inputs
        data = [batch.at(number) for number in range(len(batch))]
        texts: dict[int, str] = {}
        for number, sample in enumerate(data):
            try:
                texts[number] = _text_of(sample)
            except Exception as error:
                note_failure(context, number, error)
        columns: list[list[Any]] = [[None] * len(data) for _ in range(1 + self._with_offsets)]
        for number, tokens in zip(texts, self._tokens(context, texts), strict=True):
            if tokens is None:
                continue
            columns[0][number] = tokens.numbers.astype(self._dtype, copy=False)
            if self._with_offsets:
                columns[1][number] = _byte_offsets(data[number], tokens.offsets)
        fill_failed(context, columns)
        return [StepOutput(column, origin=0) for column in columns]

    def _tokens(self, context: StepContext, texts: dict[int, str]) -> Sequence[Tokens | None]:
        try:
            return self._tokenizer.encode(list(texts.values()), self._num_threads)
        except Exception:
            return [self._alone(context, number, text) for number, text in texts.items()]

    def _alone(self, context: StepContext, number: int, text: str) -> Tokens | None:
        try:
            return self._tokenizer.encode([text], 1)[0]
        except SampleFailed:
            raise
        except Exception as error:
            note_failure(context, number, error)
            return None


def _text_of(sample: NDArray[Any]) -> str:
    if sample.dtype != np.uint8 or sample.ndim != 1:
        raise ArgumentTypeError(
            f"the input must be texts, 1-D arrays of uint8 (got {sample.dtype} of shape "
            f"{sample.shape}). Pass what a reader of texts gives."
        )
    try:
        return sample.tobytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"the text must be in UTF-8 (got the byte 0x{sample[error.start]:02x} at "
            f"{error.start}: {error.reason})."
        ) from error


def _byte_offsets(text: NDArray[np.uint8], offsets: Sequence[tuple[int, int]]) -> NDArray[np.int32]:
    """Turn the numbers of characters into those of bytes."""
    starts = np.append(np.flatnonzero((text & 0xC0) != 0x80), len(text)).astype(np.int32)
    return starts[np.array(offsets, np.int64).reshape(-1, 2)]
