"""Numbers out of the range of machine types raise an error of this library, wherever they enter."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    PipelineStateError,
    SerializationError,
)

LARGE = (2**64, 2**70, -(2**70), 10**400, 10**5000)
ids = ["2**64", "2**70", "-2**70", "10**400", "10**5000"]
EVERY_LARGE = pytest.mark.parametrize("number", LARGE, ids=ids)


def str_or_digits(number: float) -> str:
    return f"{number.bit_length()} bits" if isinstance(number, int) else str(number)


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "axis": lambda data, number: fn.stack(data, axis=number),
    "shape": lambda data, number: fn.random.uniform(shape=[3, number]),
    "a number for a list": lambda data, number: fn.random.uniform(shape=number),
    "seed": lambda data, number: fn.random.uniform(seed=number),
    "idata": lambda data, number: fn.constant(idata=[number]),
    "a NumPy number": lambda data, number: fn.flip(data, horizontal=np.array(number, object)),
    "types.Constant": lambda data, number: data * types.Constant(number),
    "a list": lambda data, number: types.Constant([1, number]),
    "a list with floats": lambda data, number: types.Constant([0.5, 10**400 * number]),
    "a sum": lambda data, number: data + number,
    "a difference": lambda data, number: number - data,
    "a comparison": lambda data, number: data < number,
    "an index": lambda data, number: data[number],
    "a slice": lambda data, number: data[:number],
    "a step": lambda data, number: data[::number],
    "num_outputs": lambda data, number: fn.external_source(num_outputs=number),
}


@EVERY_LARGE
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_operators(call: Callable[[Any, Any], Any], number: int) -> None:
    with (
        Pipeline(1, 1, None),
        pytest.raises(ArgumentValueError, match=rf"\A\S.* at {__file__}:\d+: "),
    ):
        call(fn.external_source(name="data"), number)


@pytest.mark.parametrize(
    "number", [10**400, -(10**400), 10**5000, 1e39, float("nan")], ids=str_or_digits
)
def test_floats(number: float) -> None:
    with Pipeline(1, 1, None):
        data = fn.external_source(name="data")
        for arguments in ({"brightness": number}, {"brightness": np.array(number, object)}):
            with pytest.raises(
                ArgumentValueError, match=r"fn.brightness at .*'brightness' must be finite \(got "
            ):
                fn.brightness(data, **arguments)


@EVERY_LARGE
@pytest.mark.parametrize(
    "name",
    [
        *("batch_size", "num_threads", "seed", "device_id", "prefetch_queue_depth"),
        *("py_num_workers", "default_cuda_stream_priority"),
    ],
)
def test_pipelines(name: str, number: int) -> None:
    with pytest.raises(ArgumentValueError, match=rf"^Pipeline.*{name} must be "):
        Pipeline(**{"batch_size": 1, name: number})


def test_batch_size_of_32_bits() -> None:
    with pytest.raises(ArgumentValueError, match=r"batch_size must be from 1 to 1073741823 \(got"):
        Pipeline(2**31)


@EVERY_LARGE
def test_documents(number: int) -> None:
    with Pipeline(1, 1, None, seed=1) as pipeline:
        data = fn.external_source(name="data")
        pipeline.set_outputs(fn.brightness(data, brightness=2.0), fn.stack(data, axis=0))
    document = json.loads(pipeline.serialize())
    names = [entry["operator"] for entry in document["operators"]]
    for name, argument in (("brightness", "brightness"), ("stack", "axis")):
        place = names.index(name)
        text = json.dumps(document).replace("2.0", "1.5")
        damaged = json.loads(text)
        damaged["operators"][place].setdefault("arguments", {})[argument] = "here"
        if name == "brightness" and abs(number) < 10**38:
            continue
        digits = "9" * 5000 if number == LARGE[-1] else str(number)
        with pytest.raises(
            SerializationError, match=rf"operators\[{place}\]: fn.{name} at|must be JSON"
        ):
            Pipeline.deserialize(json.dumps(damaged).replace('"here"', digits))


def test_native_errors_name_the_operator_of_a_document() -> None:
    with Pipeline(1, 1, None) as pipeline:
        data = fn.external_source(name="data", layout="HWC")
        pipeline.set_outputs(fn.gaussian_blur(data, window_size=3))
    text = pipeline.serialize().replace(b"[3]", b"[4]")
    with pytest.raises(
        SerializationError,
        match=r"deserialize: operators\[1\]: fn.gaussian_blur at .*must be odd.*got 4",
    ) as caught:
        Pipeline.deserialize(text)
    assert isinstance(caught.value.__cause__, ArgumentValueError)


def test_indices_of_batches() -> None:
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(fn.constant(idata=[1]))
    (batch,) = pipeline.run()
    for number in LARGE:
        with pytest.raises(DaliCoreError, match="index must be below the 1 samples"):
            batch[number]


def test_threads_that_cannot_start() -> None:
    """In a separate process, since the limit applies to all threads of a user or a process."""
    done = subprocess.run(
        [sys.executable, "-c", "from tests.graph.test_large_numbers import start; start()"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "refused\nworks\n"), done.stderr[-2000:]


def start() -> None:
    """Ask for more threads than memory for their stacks allows, and then for one."""
    pipeline = Pipeline(1, 4096, None)
    with pipeline:
        pipeline.set_outputs(fn.constant(idata=[1]))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = resource.getrlimit(resource.RLIMIT_AS)
    room = 256 << 20
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + room, limit[1]))
    with pytest.raises(PipelineStateError, match=r"num_threads must be .*start \(got 4096; after"):
        pipeline.build()
    print("refused")
    resource.setrlimit(resource.RLIMIT_AS, limit)
    pipeline.close()
    with Pipeline(1, 1, None) as other:
        other.set_outputs(fn.constant(idata=[1]))
    other.run()
    print("works")


def test_other_kinds_of_arguments_are_shown_whole() -> None:
    with pytest.raises(ArgumentTypeError, match=r"num_threads must be a positive int \(got 'many'"):
        Pipeline(1, "many")  # type: ignore[arg-type]
