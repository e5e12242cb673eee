"""Both libraries read back what they write; the documents differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.pipelines import (
    ARRAY,
    SIZE,
    check,
    fed,
    plain,
)

pytestmark = pytest.mark.filterwarnings("ignore")


def graph(library: Any, **arguments: Any) -> Any:
    pipeline = library.Pipeline(SIZE, 2, None, **{"seed": 3, **arguments})
    with pipeline:
        pipeline.set_outputs(
            library.fn.random.uniform(range=[0.0, 1.0]), library.fn.random.coin_flip()
        )
    return pipeline


def test_round_trip(tmp_path: Path) -> None:
    def same(p: Any, library: Any) -> Any:
        document = p.serialize(filename=str(tmp_path / "document"))
        again = library.Pipeline.deserialize(document)
        from_file = library.Pipeline.deserialize(filename=str(tmp_path / "document"))
        expected = plain(p.run(), library)
        return [
            type(document).__name__,
            plain(again.run(), library) == expected,
            plain(from_file.run(), library) == expected,
            *(getattr(again, name) for name in ("batch_size", "num_threads", "seed")),
            again.num_outputs,
        ]

    assert check(same, make=graph) == [["bytes", True, True, 3, 2, 3, 2]]


def test_arguments() -> None:
    def changed(p: Any, library: Any) -> Any:
        again = library.Pipeline.deserialize(
            p.serialize(), batch_size=5, num_threads=1, seed=9, prefetch_queue_depth=1
        )
        return [
            *(getattr(again, name) for name in ("batch_size", "num_threads", "seed")),
            again.prefetch_queue_depth,
            len(again.run()[0]),
        ]

    check(changed, make=graph)


def test_deserialize_and_build() -> None:
    def become(p: Any, library: Any) -> Any:
        log = []
        expected = plain(graph(library).run(), library)
        for other in (library.Pipeline(device_id=None), library.Pipeline(5, 1, None, seed=7)):
            other.deserialize_and_build(p.serialize())
            log.append([other.batch_size, other.num_threads, other.seed])
            log.append(plain(other.run(), library) == expected)
        return log

    assert check(become, make=graph) == [[[3, 2, 3], True, [5, 1, 7], False]]


def test_invalid_documents_raise_in_both() -> None:
    def reading(*given: Any, **named: Any) -> Callable[[Any, Any], Any]:
        return lambda _, library: library.Pipeline.deserialize(*given, **named)

    check(
        reading(),
        reading(b"abc", filename="x"),
        reading(b""),
        reading(b"abc"),
        reading("abc"),
        reading(3),
        lambda p, library: library.Pipeline.deserialize(p.serialize()[:40]),
        lambda p, _: p.serialize("file"),
        make=graph,
    )
    check(lambda p, library: p.serialize(define_graph=library.fn.random.uniform), make=graph)
    check(
        lambda p, library: len(p.serialize(define_graph=library.fn.random.uniform)) > 0,
        make=lambda library: library.Pipeline(SIZE, 2, None),
    )


def test_python_functions() -> None:
    def make(library: Any) -> Any:
        pipeline = library.Pipeline(SIZE, 2, None)
        with pipeline:
            data = library.fn.external_source(name="x")
            pipeline.set_outputs(library.fn.python_function(data, function=lambda x: x))
        return pipeline

    assert check(lambda p, _: p.serialize(), make=make) == ["RuntimeError"]


def test_fed_inputs() -> None:
    def feed(p: Any, library: Any) -> Any:
        again = library.Pipeline.deserialize(p.serialize(), prefetch_queue_depth=1)
        again.feed_input("x", ARRAY)
        return [plain(again.run(), library), plain(again.run(x=ARRAY + 1), library)]

    check(feed, make=fed)
