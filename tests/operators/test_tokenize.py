"""`fn.tokenize`: the tokens that the libraries give, by themselves, for any threads."""

from __future__ import annotations

import io
import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    SampleError,
    SerializationError,
)
from dali_core.operators.tokenize import tokenizers as texts_module
from dali_core.testing.examples import list_of
from tests.operators.suite import Example, Input

WORDS = ("the", "quick", "brown", "fox", "jumps", "över", "lazy", "dog", "日本", "😀")


def texts(count: int = 20, seed: int = 0) -> list[str]:
    """Return texts of some words, one of them empty."""
    random = np.random.default_rng(seed)
    return ["", *(" ".join(random.choice(WORDS, 1 + n % 13)) for n in range(1, count))]


def encoded(given: list[str]) -> list[np.ndarray]:
    """Return the bytes of texts."""
    return [np.frombuffer(text.encode(), np.uint8) for text in given]


@cache
def trained_json() -> str:
    """Train a small tokenizer with tokens for beginning and end; return its JSON."""
    package = pytest.importorskip("tokenizers", reason="not available: tokenizers")
    tokenizer = package.Tokenizer(package.models.BPE())
    tokenizer.pre_tokenizer = package.pre_tokenizers.ByteLevel()
    special = ["<s>", "</s>"]
    alphabet = package.pre_tokenizers.ByteLevel.alphabet()
    trainer = package.trainers.BpeTrainer(
        vocab_size=330, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts(200), trainer)
    tokenizer.post_processor = package.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return str(tokenizer.to_str())


def trained() -> Any:
    """Return a tokenizer of its own."""
    package = pytest.importorskip("tokenizers", reason="not available: tokenizers")
    return package.Tokenizer.from_str(trained_json())


def example(_: Path, **arguments: Any) -> dict[str, Any]:
    """Return arguments with a tokenizer."""
    return {"tokenizer": trained_json(), **arguments}


_TEXTS = encoded(texts(6))
_INPUT = Input(lambda index: _TEXTS[index % 6])

EXAMPLES = [
    Example("tokens", [_INPUT], partial(example)),
    Example("offsets", [_INPUT], partial(example, offsets=True, max_length=5)),
    Example("long", [_INPUT], partial(example, dtype=types.INT64, add_special_tokens=False)),
]


def tokenize(
    given: list[np.ndarray], num_threads: int = 2, options: Any = None, **arguments: Any
) -> list[Any]:
    """Return what a pipeline gives for one batch: for each output a list for each text."""
    with Pipeline(len(given), num_threads, None, **(options or {})) as pipeline:
        data = fn.external_source(source=lambda: given)
        pipeline.set_outputs(*list_of(fn.tokenize(data, **arguments)))
    outputs = pipeline.run()
    pipeline.close()
    return [[np.array(output.at(i)).tolist() for i in range(len(given))] for output in outputs]


def test_tokens_are_those_of_the_library(tmp_path: Path) -> None:
    given = texts()
    expected = [trained().encode(text).ids for text in given]
    path = tmp_path / "tokenizer.json"
    path.write_text(trained_json(), encoding="utf-8")
    for tokenizer in (trained(), trained_json(), path, str(path)):
        assert tokenize(encoded(given), tokenizer=tokenizer) == [expected]
    bare = [trained().encode(text, add_special_tokens=False).ids for text in given]
    assert tokenize(encoded(given), tokenizer=path, add_special_tokens=False) == [bare]
    assert bare[0] == []
    assert expected[0] == [0, 1]


def test_truncation() -> None:
    given = texts()
    for side in ("right", "left"):
        tokenizer = trained()
        tokenizer.enable_truncation(6, direction=side)
        expected = [tokenizer.encode(text).ids for text in given]
        assert max(map(len, expected)) == 6
        # As the tokenizer says, and as the call does.
        assert tokenize(encoded(given), tokenizer=tokenizer) == [expected]
        own = {"tokenizer": trained(), "max_length": 6, "truncation_side": side}
        assert tokenize(encoded(given), **own) == [expected]
    with pytest.raises(ArgumentValueError, match="max_length must be at least 2, the special"):
        tokenize(encoded(given), tokenizer=trained(), max_length=1)


def test_texts_do_not_depend_on_each_other() -> None:
    tokenizer = trained()
    tokenizer.enable_padding()
    given = texts()
    (together,) = tokenize(encoded(given), tokenizer=tokenizer)
    alone = [tokenize([sample], tokenizer=tokenizer)[0][0] for sample in encoded(given)]
    assert together == alone
    assert tokenizer.padding is not None  # the user's is as it was


def test_offsets_are_those_of_bytes() -> None:
    given = texts()
    tokens, offsets = tokenize(encoded(given), tokenizer=trained(), offsets=True)
    for text, numbers, places in zip(given, tokens, offsets, strict=True):
        assert len(numbers) == len(places)
        assert places[0] == places[-1] == [0, 0]
        inner = places[1:-1]
        covered = b"".join(text.encode()[a:b] for a, b in dict.fromkeys(map(tuple, inner)))
        assert len(covered) >= len(text.encode().replace(b" ", b""))
        assert all(a <= b <= len(text.encode()) for a, b in inner)
        for first, last in inner:
            text.encode()[first:last].decode()  # whole characters


@pytest.mark.parametrize("parallel", ["true", "false"])
def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch, parallel: str) -> None:
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", parallel)
    monkeypatch.setattr(texts_module, "_WORTH_A_THREAD", 10)
    given = texts(60, seed=1)
    expected = [trained().encode(text).ids for text in given]
    for num_threads in (1, 2, 7):
        assert tokenize(encoded(given), num_threads, tokenizer=trained()) == [expected]


def test_long_batches_are_divided() -> None:
    given = ["a" * n for n in (40_000, 10, 20_000, 0, 30_000, 9_000)]
    for num_threads in (1, 2, 3, 8, 100):
        parts = texts_module._parts(given, num_threads)
        assert [text for part in parts for text in part] == given
        assert len(parts) <= min(num_threads, 6)
        assert all(parts)
    assert [len(part) for part in texts_module._parts(["a" * 20_000] * 6, 3)] == [2, 2, 2]
    assert texts_module._parts(["a"] * 100, 8) == [["a"] * 100]
    assert texts_module._parts([], 8) == [[]]


def test_bad_samples() -> None:
    given = [*encoded(["good"]), np.frombuffer(b"a\xff", np.uint8), *encoded(["end"])]
    with pytest.raises(SampleError, match=r"sample 1.*in UTF-8 \(got the byte 0xff at 1"):
        tokenize(given, tokenizer=trained())
    with pytest.raises(SampleError, match=r"1-D arrays of uint8 \(got float32 of shape \(3,\)"):
        tokenize([np.zeros(3, np.float32)], tokenizer=trained())
    package = pytest.importorskip("tokenizers", reason="not available: tokenizers")
    strict = package.Tokenizer(package.models.WordLevel({"a": 0, "b": 1}, unk_token="<unk>"))
    strict.pre_tokenizer = package.pre_tokenizers.Whitespace()
    with pytest.raises(SampleError, match=r"sample 1.*WordLevel error: Missing \[UNK\]"):
        tokenize(encoded(["a b", "c", "a"]), tokenizer=strict)


def test_bad_samples_of_a_reader_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"the fox\n\xff\nlazy dog\n")
    options = {"on_sample_error": "replace", "max_bad_samples": 1.0}
    with Pipeline(3, 2, None, **options) as pipeline:
        text = fn.readers.text(paths=[str(path)])
        pipeline.set_outputs(fn.tokenize(text, tokenizer=trained()))
    (batch,) = pipeline.run()
    found = [np.array(batch.at(i)).tolist() for i in range(3)]
    expected = [trained().encode(text).ids for text in ("the fox", "lazy dog", "lazy dog")]
    assert found == expected
    assert [bad.source for bad in pipeline.bad_samples] == ["index 1"]
    pipeline.close()


def test_documents_have_the_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"the fox\nlazy dog\n")
    with Pipeline(2, 2, None) as pipeline:
        text = fn.readers.text(paths=[str(path)])
        pipeline.set_outputs(fn.tokenize(text, tokenizer=trained(), max_length=4))
    again = Pipeline.deserialize(pipeline.serialize())
    expected = pipeline.run()[0]
    found = again.run()[0]
    assert [found.at(i).tolist() for i in range(2)] == [expected.at(i).tolist() for i in range(2)]
    pipeline.close()
    again.close()


def test_wrong_tokenizers(tmp_path: Path) -> None:
    given = encoded(["a"])
    for tokenizer, error, message in (
        (3, ArgumentTypeError, r"must be a tokenizers.Tokenizer, .* \(got 3\)"),
        ("missing.json", ArgumentValueError, "got 'missing.json': No such file"),
        ("{}", ArgumentValueError, "got JSON that tokenizers cannot read"),
        ("{" * 100_000, ArgumentValueError, "got JSON that tokenizers cannot read"),
    ):
        pytest.importorskip("tokenizers", reason="not available: tokenizers")
        with pytest.raises(error, match=message):
            tokenize(given, tokenizer=tokenizer)
    document = json.loads(trained_json())
    document["model"]["dropout"] = 0.1
    with pytest.raises(ArgumentValueError, match=r"the same tokens each time \(got a dropout of"):
        tokenize(given, tokenizer=json.dumps(document))


def sentencepiece_model() -> Any:
    """Train a small model of SentencePiece."""
    package = pytest.importorskip("sentencepiece", reason="not available: sentencepiece")
    model = io.BytesIO()
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(texts(200)), model_writer=model, vocab_size=40, minloglevel=3
    )
    return package.SentencePieceProcessor(model_proto=model.getvalue(), add_bos=True)


def tiktoken_encoding() -> Any:
    """Make a small encoding of tiktoken, with a pair of bytes beside all of them."""
    package = pytest.importorskip("tiktoken", reason="not available: tiktoken")
    ranks = {bytes([n]): n for n in range(256)} | {b"th": 256, b"the": 257, b"qu": 258}
    return package.Encoding("small", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})


@pytest.mark.parametrize("library", ["sentencepiece", "tiktoken"])
def test_other_libraries(library: str) -> None:
    given = texts()
    if library == "sentencepiece":
        tokenizer = sentencepiece_model()
        expected = [tokenizer.encode(text) for text in given]
        bare = [tokenizer.encode(text, add_bos=False) for text in given]
        assert bare != expected
    else:
        tokenizer = tiktoken_encoding()
        bare = expected = [tokenizer.encode_ordinary(text) for text in given]
        assert expected[1][0] in (256, 257, 258) or len(expected[1]) > 0
    for num_threads in (1, 3):
        assert tokenize(encoded(given), num_threads, tokenizer=tokenizer) == [expected]
    assert tokenize(encoded(given), tokenizer=tokenizer, add_special_tokens=False) == [bare]
    for side, part in (("right", slice(4)), ("left", slice(-4, None))):
        cut = tokenize(encoded(given), tokenizer=tokenizer, max_length=4, truncation_side=side)
        assert cut == [[numbers[part] for numbers in expected]]
    with pytest.raises(ArgumentValueError, match=f"tokenizer of {library}"):
        tokenize(encoded(given), tokenizer=tokenizer, offsets=True)
    with Pipeline(1, 1, None) as pipeline:
        text = fn.external_source(name="text")
        pipeline.set_outputs(fn.tokenize(text, tokenizer=tokenizer))
    with pytest.raises(SerializationError, match="'tokenizer' of fn.tokenize"):
        pipeline.serialize()
    pipeline.close()
