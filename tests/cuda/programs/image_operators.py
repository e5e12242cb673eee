"""Image operators: the device is bitwise identical to the host."""

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, types
from dali_core.errors import SampleError
from tests.operators.suite import ALL_TYPES, NUM_SAMPLES, find_examples, numbers, run, type_of

FAILED_TOO = re.compile(r" \(\d+ more samples? of this batch failed: .*\Z")
Step = Callable[[Any], Any]

SETTINGS = settings(
    max_examples=int(os.environ.get("DALI_CORE_EXAMPLES", "40")),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
FILTERS = [types.DALIInterpType(number) for number in range(6)]
OPERATORS = (
    "crop",
    "crop_mirror_normalize",
    "flip",
    "random_resized_crop",
    "resize",
    "resize_crop_mirror",
    "slice",
)


def chain_counts(pipeline: Pipeline) -> list[tuple[int, int]]:
    """Return, for each chain on the device, the numbers of fused and unfused samples."""
    programs = pipeline._run.runner.device._programs.values()
    return [counts for program in programs for counts in program.fusion_counts()]


def outcome(
    steps: Sequence[Step],
    data: Sequence[np.ndarray],
    layout: str,
    *,
    device: bool,
    optimize: bool = True,
) -> tuple[list[np.ndarray], str, list[tuple[int, int]]] | str:
    """Run steps; return samples, layout and counts of chains, or the message of the error."""
    pipeline = Pipeline(batch_size=len(data), num_threads=1, device_id=0, seed=7, optimize=optimize)
    with pipeline:
        value = fn.external_source(source=lambda: list(data), layout=layout or None)
        value = value.gpu() if device else value
        for step in steps:
            value = step(value)
        assert value.device == ("gpu" if device else "cpu")
        pipeline.set_outputs(value.cpu())
    try:
        (output,) = pipeline.run()
        counts = chain_counts(pipeline) if device else []
        return [np.array(output.at(i)) for i in range(len(data))], output.layout(), counts
    except SampleError as error:
        return str(error)
    finally:
        pipeline.close()


def check(
    steps: Sequence[Step], data: Sequence[np.ndarray], layout: str
) -> list[tuple[int, int]] | str:
    """Compare the device with the host; return the device's counts of chains, or the error."""
    expected = outcome(steps, data, layout, device=False, optimize=False)
    for optimize in (True, False) if len(steps) > 1 else (True,):
        result = outcome(steps, data, layout, device=True, optimize=optimize)
        if isinstance(expected, str) or isinstance(result, str):
            # Of several samples that fail, the host counts all, and reports the first of all steps.
            assert isinstance(result, str), expected
            assert isinstance(expected, str), result
            if len(steps) == 1:
                assert result == FAILED_TOO.sub("", expected), expected
            continue
        assert result[1] == expected[1], (result[1], expected[1])
        for number, (ours, theirs) in enumerate(zip(result[0], expected[0], strict=True)):
            np.testing.assert_array_equal(ours, theirs, strict=True, err_msg=f"sample {number}")
        if optimize:
            counts: list[tuple[int, int]] | str = result[2]
    return expected if isinstance(expected, str) else counts


def check_examples() -> None:
    """All examples of the operators, in batches of several sizes."""
    for name in OPERATORS:
        for example in find_examples(name):

            def on_device(*values: Any, name: str = name, **arguments: Any) -> Any:
                first, *others = values
                outputs = getattr(fn, name)(first.gpu(), *others, **arguments)
                if isinstance(outputs, (list, tuple)):
                    return [output.cpu() for output in outputs]
                return outputs.cpu()

            assert not callable(example.arguments)
            arguments = dict(example.arguments)
            if name == "random_resized_crop":
                arguments["seed"] = 11
            expected = run(name, example, arguments)
            for batch_size in (1, 3, NUM_SAMPLES):
                run(
                    name,
                    example,
                    arguments,
                    function=on_device,
                    device_id=0,
                    batch_size=batch_size,
                ).check_equals(expected)


sizes = st.integers(1, 40)


@st.composite
def batches(draw: st.DrawFn, layout: str, dtypes: Sequence[str] = ALL_TYPES) -> list[np.ndarray]:
    """Draw one to four samples of unequal extents, except channels."""
    dtype = draw(st.sampled_from(dtypes))
    channels = draw(st.sampled_from([1, 2, 3, 4, 5]))
    small = {"F": st.integers(1, 3), "D": st.integers(1, 5), "C": st.just(channels)}
    shapes = draw(
        st.lists(
            st.tuples(*(small.get(letter, sizes) for letter in layout)), min_size=1, max_size=4
        )
    )
    seed = draw(st.integers(0, 1000))
    return [numbers(dtype, shape, seed + i) for i, shape in enumerate(shapes)]


any_layout = st.sampled_from(["HWC", "CHW", "HW", "FHWC", "FCHW", "DHWC", "CDHW", "FDHWC"])
positions = st.floats(0, 1, width=32)


@st.composite
def crops(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "crop": (draw(st.integers(0, 45)), draw(st.integers(0, 45))),
        "crop_pos_x": draw(positions),
        "crop_pos_y": draw(positions),
    }


@st.composite
def filters(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "interp_type": draw(st.sampled_from(FILTERS)),
        "antialias": draw(st.booleans()),
        **draw(st.sampled_from([{}, {}, {"dtype": types.FLOAT}])),
    }


@SETTINGS
@given(data=st.data(), layout=any_layout)
def check_windows(data: st.DataObject, layout: str) -> None:
    arguments = data.draw(crops())
    arguments["out_of_bounds_policy"] = data.draw(
        st.sampled_from(
            ["error", "trim_to_shape", "pad", "edge", "reflect", "reflect_101", "wrap", "pad"]
        )
    )
    arguments["fill_values"] = data.draw(st.sampled_from([[3.7], [-1.0, 300.0, 2.0], [0.0]]))
    if data.draw(st.booleans()):
        arguments["dtype"] = data.draw(
            st.sampled_from([types.UINT8, types.FLOAT16, types.FLOAT, types.INT32])
        )
    name = data.draw(st.sampled_from(["crop", "slice"]))
    if name == "slice":
        del arguments["crop"], arguments["crop_pos_x"], arguments["crop_pos_y"]
        ndim = len(layout)
        axes = data.draw(st.permutations(range(ndim)))[: data.draw(st.integers(1, ndim))]
        arguments["axes"] = axes
        arguments["start"] = [data.draw(st.integers(-6, 6)) for _ in axes]
        arguments["shape"] = [data.draw(st.integers(0, 12)) for _ in axes]
    check([lambda value: getattr(fn, name)(value, **arguments)], data.draw(batches(layout)), layout)


@SETTINGS
@given(data=st.data(), layout=any_layout)
def check_flips(data: st.DataObject, layout: str) -> None:
    mirrors = {
        name: data.draw(st.integers(0, 1)) for name in ("horizontal", "vertical", "depthwise")
    }
    check([lambda value: fn.flip(value, **mirrors)], data.draw(batches(layout)), layout)


@st.composite
def normalizations(draw: st.DrawFn, layout: str) -> dict[str, Any]:
    return {
        **draw(crops()),
        "mirror": draw(st.integers(0, 1)),
        "mean": draw(st.sampled_from([[0.0], [100.0, 3.0, 50.0], [12.5]])),
        "std": draw(st.sampled_from([[1.0], [50.0, 60.0, 70.0]])),
        "scale": draw(st.sampled_from([1.0, 0.125, 3.3])),
        "shift": draw(st.sampled_from([0.0, 7.0])),
        "dtype": type_of(draw(st.sampled_from(["float32", "float16", *ALL_TYPES]))),
        "output_layout": draw(st.sampled_from(["", "".join(draw(st.permutations(layout))), "CHW"])),
        "pad_output": draw(st.booleans()),
    }


@SETTINGS
@given(data=st.data(), layout=any_layout)
def check_normalizations(data: st.DataObject, layout: str) -> None:
    arguments = data.draw(normalizations(layout))
    arguments["out_of_bounds_policy"] = data.draw(
        st.sampled_from(["error", "trim_to_shape", "pad", "pad"])
    )
    arguments["fill_values"] = data.draw(st.sampled_from([[3.7], [-1.0, 300.0, 2.0]]))
    check(
        [lambda value: fn.crop_mirror_normalize(value, **arguments)],
        data.draw(batches(layout)),
        layout,
    )


@st.composite
def resizings(draw: st.DrawFn) -> Step:
    arguments = draw(filters())
    kind = draw(st.sampled_from(["resize", "region", "random", "mirror", "mirror"]))
    if kind == "random":
        arguments |= {"size": (draw(sizes), draw(sizes)), "seed": draw(st.integers(0, 99))}
        return lambda value: fn.random_resized_crop(value, **arguments)
    arguments |= {"resize_x": float(draw(sizes)), "resize_y": draw(st.floats(1, 40, width=16))}
    if kind == "resize":
        return lambda value: fn.resize(value, **arguments)
    if kind == "region":
        arguments |= {
            "roi_start": (draw(positions), draw(positions)),
            "roi_end": (draw(positions), draw(positions)),
            "roi_relative": True,
        }
        return lambda value: fn.resize(value, **arguments)
    arguments |= {**draw(crops()), "mirror": draw(st.integers(0, 3))}
    return lambda value: fn.resize_crop_mirror(value, **arguments)


@SETTINGS
@given(data=st.data(), layout=any_layout)
def check_resizings(data: st.DataObject, layout: str) -> None:
    samples = data.draw(batches(layout, ["uint8", "float32", *ALL_TYPES]))
    check([data.draw(resizings())], samples, layout)


@SETTINGS
@given(data=st.data())
def check_chains(data: st.DataObject) -> None:
    steps: list[Step] = []
    for _ in range(data.draw(st.integers(0, 2))):
        steps.append(data.draw(windows()))
    if data.draw(st.booleans()):
        steps.append(data.draw(resizings()))
    for _ in range(data.draw(st.integers(0, 2))):
        steps.append(data.draw(windows()))
    arguments = data.draw(normalizations("HWC"))
    if data.draw(st.booleans()) or not steps:
        steps.append(lambda value: fn.crop_mirror_normalize(value, **arguments))
    layout = data.draw(st.sampled_from(["HWC", "HWC", "HWC", "", "CHW"]))
    check(steps, data.draw(batches("HWC", ["uint8", "float32", *ALL_TYPES])), layout)


@st.composite
def windows(draw: st.DrawFn) -> Step:
    if draw(st.booleans()):
        mirrors = {name: draw(st.integers(0, 1)) for name in ("horizontal", "vertical")}
        return lambda value: fn.flip(value, **mirrors)
    size = (draw(st.integers(0, 9)), draw(st.integers(0, 9)))
    policy = draw(st.sampled_from(["error", "trim_to_shape", "trim_to_shape"]))
    return lambda value: fn.crop(value, crop=size, out_of_bounds_policy=policy)


def assert_one_chain(counts: Any) -> None:
    ((fused, refused),) = counts
    assert fused >= 5, counts
    assert refused == 0, counts


def check_usual_chain() -> None:
    """Typical training chains are fused, also if some samples keep their size."""
    data = [numbers("uint8", (20 + 7 * i, 45 - 5 * i, 3), i) for i in range(5)]

    def flipped(value: Any) -> Any:
        coins = fn.external_source(source=lambda info: np.int32(info.idx_in_batch % 2), batch=False)
        return fn.flip(value, horizontal=coins)

    def finished(value: Any) -> Any:
        return fn.crop_mirror_normalize(
            value, crop=(16, 18), mean=[123.7, 116.3, 103.5], std=[58.4, 57.1, 57.4]
        )

    steps = [lambda value: fn.resize(value, resize_shorter=20), finished]
    assert_one_chain(check(steps, data, "HWC"))
    steps = [lambda value: fn.random_resized_crop(value, size=(20, 24), seed=4), finished]
    assert_one_chain(check(steps, data, "HWC"))
    assert_one_chain(check([flipped, finished], data, "HWC"))
    assert_one_chain(check([flipped, finished], data, ""))
    beyond = [lambda value: fn.crop(value, crop=(90, 90)), finished]
    assert "window must lie inside" in str(check(beyond, data, "HWC"))


def check_large_batch() -> None:
    """Groups of samples that share memory between the passes, and many samples."""
    data = [numbers("uint8", (400, 900, 3), i) for i in range(2)] * 6
    check([lambda value: fn.resize(value, size=(390, 300))], data, "HWC")
    many = [numbers("uint8", (2, 1 + i % 3, 3), i) for i in range(33000)]
    check([lambda value: fn.flip(value)], many, "HWC")
