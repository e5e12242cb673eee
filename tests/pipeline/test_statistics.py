"""Memory statistics of operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core import Pipeline, fn, types

SIZES = (3, 9, 5)


def source(iteration: int) -> list[np.ndarray]:
    return [np.zeros((SIZES[iteration % 3], 4, 3), np.uint8), np.zeros((1, 4, 3), np.uint8)]


def graph(**arguments: Any) -> Pipeline:
    with Pipeline(2, 2, None, prefetch_queue_depth=1, **arguments) as made:
        data = fn.external_source(source, name="data", layout="HWC")
        resized = fn.resize(data, size=[10, 20], name="resized")
        flipped = fn.flip(resized, name="flipped")
        function = fn.python_function(
            flipped, function=lambda x: (x[:1], x[:2]), num_outputs=2, name="function"
        )
        normal = fn.crop_mirror_normalize(flipped, dtype=types.FLOAT, name="normal")
        made.set_outputs(normal, *function)
    return made


def entry(*sizes: tuple[int, int]) -> dict[str, list[int]]:
    batches, samples = ([size[i] for size in sizes] for i in range(2))
    return {
        "real_memory_size": batches,
        "max_real_memory_size": samples,
        "reserved_memory_size": batches,
        "max_reserved_memory_size": samples,
    }


def test_sizes_of_the_largest_batch_and_sample() -> None:
    made = graph(enable_memory_stats=True, optimize=False)
    assert made.executor_statistics() == {}
    made.run()
    image = 10 * 20 * 3
    expected = {
        "CPU_data": entry((12 * (3 + 1), 12 * 3)),
        "CPU_resized": entry((2 * image, image)),
        "CPU_flipped": entry((2 * image, image)),
        "CPU_function": entry((2 * 60, 60), (2 * 120, 120)),
        "CPU_normal": entry((8 * image, 4 * image)),
    }
    assert made.executor_statistics() == expected
    for _ in range(2):
        made.run()
    expected["CPU_data"] = entry((12 * (9 + 1), 12 * 9))
    assert made.executor_statistics() == expected


def test_fused_values_take_no_memory() -> None:
    made = graph(enable_memory_stats=True)
    made.run()
    statistics = made.executor_statistics()
    assert "fused" in made.plan()
    assert statistics["CPU_resized"] == entry((0, 0))
    assert statistics["CPU_flipped"] == entry((1200, 600))


def test_memory_statistics_are_off_by_default() -> None:
    made = graph()
    made.run()
    assert made.executor_statistics() == {}


def test_short_batches() -> None:
    with Pipeline(4, 1, None, enable_memory_stats=True) as made:
        made.set_outputs(fn.copy(fn.external_source(lambda: [np.zeros(3)] * 2), name="copy"))
    made.run()
    assert made.executor_statistics()["CPU_copy"] == entry((48, 24))
