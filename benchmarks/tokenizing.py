"""Measure tokenizing and packing of documents: ``python -m benchmarks.tokenizing``.

Documents of 2 kB in JSON Lines are read in a random order, tokenized and packed to a row for each
batch: tokens, labels without borders, segment ids, position ids and offsets. That is done by the
library alone (texts in memory, without packing), by a pipeline with two threads, and by PyTorch's
DataLoader with two worker processes and a collate function that packs. Each runs in a process of
its own, by turns. Processor time is that of all threads and processes; what is left of it without
that of the tokenizer alone is the cost of everything else.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .command import positive, warn_if_busy

_BATCH_SIZE = 64
_NUM_WORDS = 5000
_WORDS_EACH = 380  # about 2 kB


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tokenizing", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--rounds", type=positive, default=5, help="(%(default)s)")
    parser.add_argument("--documents", type=positive, default=6400, help="(%(default)s)")
    parser.add_argument("--way", choices=tuple(WAYS), help="run only this, once")
    parser.add_argument("--folder", type=Path, help="with documents and tokenizer, for --way")
    arguments = parser.parse_args()
    if arguments.way is not None:
        print(json.dumps(_measured(WAYS[arguments.way], arguments.folder)))
        return
    warn_if_busy()
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), arguments.documents)
        command = [sys.executable, "-m", "benchmarks.tokenizing", "--folder", folder, "--way"]
        for _ in range(arguments.rounds):
            for way in WAYS:
                environment = {
                    **os.environ,
                    "DALI_CORE_INDEX_CACHE": str(Path(folder, "cache")),
                    # Workers of the DataLoader are the threads; alone, the library has its own.
                    "TOKENIZERS_PARALLELISM": "false" if way == "DataLoader" else "true",
                }
                output = subprocess.run(
                    [*command, way], env=environment, check=True, capture_output=True, text=True
                ).stdout
                found[way].append(json.loads(output.splitlines()[-1]))
    alone = _median(found["tokenizer alone"], "cpu")
    for way, runs in found.items():
        cpu = _median(runs, "cpu")
        print(
            f"{way:16} {_median(runs, 'rate'):8,.0f} documents/s   {1e6 * cpu:6.0f} us of processor"
            f" time each, {1e6 * (cpu - alone):6.0f} without the tokenizer"
        )


def _median(runs: list[dict[str, float]], name: str) -> float:
    return statistics.median(run[name] for run in runs)


def _write(folder: Path, num_documents: int) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    random = np.random.default_rng(0)
    words = ["".join(map(chr, random.integers(97, 123, 2 + n % 8))) for n in range(_NUM_WORDS)]
    weights = 1 / np.arange(1, _NUM_WORDS + 1)
    weights /= weights.sum()
    texts = [
        " ".join(words[n] for n in random.choice(_NUM_WORDS, _WORDS_EACH, p=weights))
        for _ in range(num_documents)
    ]
    with open(folder / "documents.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(texts))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=4000, show_progress=False)
    tokenizer.train_from_iterator(texts[:400], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))


def _measured(way: Callable[[Path], Iterator[int]], folder: Path) -> dict[str, float]:
    """Run a way; it yields 0 when it is ready, then the number of documents of each batch."""
    batches = way(folder)
    next(batches)
    before, start = _cpu_seconds(), time.perf_counter()
    count = sum(batches)
    seconds = time.perf_counter() - start
    return {"rate": count / seconds, "cpu": (_cpu_seconds() - before) / count}


def _cpu_seconds() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    usages = [resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _alone(folder: Path) -> Iterator[int]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    with open(folder / "documents.jsonl", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    tokenizer.encode_batch_fast(texts[:_BATCH_SIZE])
    yield 0
    for start in range(0, len(texts), _BATCH_SIZE):
        yield len(tokenizer.encode_batch_fast(texts[start : start + _BATCH_SIZE]))


def _pipeline(folder: Path) -> Iterator[int]:
    from dali_core import Pipeline, fn

    with Pipeline(_BATCH_SIZE, 2, None) as pipeline:
        text = fn.readers.jsonl(
            paths=[str(folder / "documents.jsonl")],
            fields=["text"],
            random_shuffle=True,
            name="texts",
        )
        tokens = fn.tokenize(text, tokenizer=folder / "tokenizer.json")
        row = fn.pack(tokens, tokens, labels=[1])
        pipeline.set_outputs(*row[:5], row[7])
    pipeline.build()
    yield 0
    for _ in range(-(-pipeline.epoch_size("texts") // _BATCH_SIZE)):
        *_, samples = pipeline.run()
        yield len(samples.at(0))
    pipeline.close()


class _Lines:
    """The documents for a DataLoader, by offsets of lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None
        with open(path, "rb") as file:
            self._starts = np.cumsum([0, *map(len, file)])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, index: int) -> str:
        if self._file is None:
            self._file = open(self._path, "rb")  # noqa: SIM115 (until the worker ends)
        self._file.seek(self._starts[index])
        text: str = json.loads(self._file.readline())["text"]
        return text


def _data_loader(folder: Path) -> Iterator[int]:
    import torch
    from tokenizers import Tokenizer
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def collate(texts: list[str]) -> tuple[torch.Tensor, ...]:
        rows = [
            torch.tensor(one.ids, dtype=torch.int32) for one in tokenizer.encode_batch_fast(texts)
        ]
        lengths = torch.tensor([len(row) for row in rows])
        offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
        tokens = torch.cat(rows)
        labels = tokens.clone()
        labels[offsets[:-1]] = -100
        segments = torch.repeat_interleave(
            torch.arange(1, len(rows) + 1, dtype=torch.int32), lengths
        )
        starts = torch.repeat_interleave(offsets[:-1], lengths)
        positions = (torch.arange(len(tokens)) - starts).int()
        return tokens, labels, segments, positions, offsets.int()

    loader: Any = DataLoader(
        _Lines(folder / "documents.jsonl"),  # type: ignore[arg-type]
        _BATCH_SIZE,
        shuffle=True,
        num_workers=2,
        collate_fn=collate,
    )
    yield 0
    for *_, offsets in loader:
        yield len(offsets) - 1


WAYS: dict[str, Callable[[Path], Iterator[int]]] = {
    "tokenizer alone": _alone,
    "pipeline": _pipeline,
    "DataLoader": _data_loader,
}


if __name__ == "__main__":
    main()
