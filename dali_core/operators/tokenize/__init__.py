"""`fn.tokenize`: texts become the numbers of their tokens."""

from __future__ import annotations

from typing import Any

from dali_core import _types as types
from dali_core._spec import Arg, OpSpec, PythonStep, Range
from dali_core.operators.tokenize.step import TokenizeStep
from dali_core.operators.tokenize.tokenizers import portable


def _bind(inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if keywords.get("tokenizer") is not None:
        keywords = {**keywords, "tokenizer": portable(keywords["tokenizer"])}
    return inputs, keywords


SPEC = OpSpec(
    name="tokenize",
    doc="""Divide texts into tokens, and give the numbers of these.

The input are texts in UTF-8, 1-D arrays of uint8, as readers of texts give them. A batch is
tokenized at once, in native code without the GIL: by the library's own threads, and where these are
turned off (``TOKENIZERS_PARALLELISM=false``) by as many as the pipeline has. The tokens of a text
depend on nothing else: texts are not padded, whatever a tokenizer says, and one that drops merges
at random is an error.

A text that is not in UTF-8, or that the tokenizer refuses, is a bad sample.

Returns
-------
DataNode or list of DataNode
    The numbers of the tokens, 1-D. With `offsets` a list, with the first byte of each token in the
    text and the byte after its last one, int32 of shape (tokens, 2).""",
    args=(
        Arg(
            "tokenizer",
            object,
            "A `tokenizers.Tokenizer` (the extra is `text`), its JSON as a text, or the path of a "
            "file with it, usually ``tokenizer.json``; a fast tokenizer of Transformers; a "
            "`sentencepiece.SentencePieceProcessor`, or a `tiktoken.Encoding`. Pipelines with one "
            "of the last two cannot be serialized.",
        ),
        Arg(
            "add_special_tokens",
            bool,
            "Add what the tokenizer adds to a text, such as tokens for its beginning and end. "
            "tiktoken adds nothing.",
            True,
        ),
        Arg(
            "max_length",
            int,
            "Most tokens of a text, with special ones; others are left out. By default as the "
            "tokenizer says, usually all are kept.",
            None,
            range=Range(1),
        ),
        Arg(
            "truncation_side",
            str,
            'Where tokens are left out: ``"right"`` or ``"left"``.',
            "right",
            choices=("right", "left"),
        ),
        Arg(
            "offsets",
            bool,
            "Give the bytes of each token in the text, too; of special ones, none. Only for "
            "`tokenizers`.",
            False,
        ),
        Arg(
            "dtype",
            types.DALIDataType,
            "Type of the numbers: INT32 or INT64.",
            types.DALIDataType.INT32,
            choices=(types.DALIDataType.INT32, types.DALIDataType.INT64),
        ),
    ),
    inputs=1,
    input_docs=("The texts.",),
    outputs=lambda arguments: 2 if arguments["offsets"] else None,
    lower=PythonStep(TokenizeStep, constructor=("tokenizer",), reads_batch=lambda _: False),
    bind=_bind,
)
