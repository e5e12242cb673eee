"""Deprecated names of operators are those of NVIDIA DALI, with the same meaning."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import dali_core
from dali_core._call.arguments import all_args
from dali_core._registry.specs import all_specs
from tests.conformance.comparing import reference, run
from tests.generated_images import jpeg, photo_like

FORMER = {name: spec for name, spec in all_specs().items() if spec.deprecated}


def function_of(name: str) -> Any:
    found: Any = reference.fn
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", FORMER)
def test_arguments(name: str) -> None:
    theirs = {
        parameter.name
        for parameter in inspect.signature(function_of(name)).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert theirs <= {arg.name for arg in all_args(FORMER[name])}
    assert FORMER[name].deprecated in function_of(name).__doc__.replace(":meth:`", "fn.")


IMAGES = ([np.frombuffer(jpeg(photo_like(31, 43, 3, i)), np.uint8) for i in range(2)], "")
CALLS: dict[str, dict[str, Any]] = {
    "image_decoder": {},
    "image_decoder_crop": {"crop": (9, 8)},
    "image_decoder_slice": {"start": (3, 4), "shape": 9},
    "experimental.decoders.image": {},
    "experimental.decoders.image_crop": {"crop": (9, 8)},
    "experimental.decoders.image_slice": {"start": (3, 4), "shape": 9},
    "experimental.peek_image_shape": {},
}


@pytest.mark.parametrize("name", CALLS)
def test_results(name: str) -> None:
    results = []
    for library in (reference, dali_core):
        with pytest.warns(DeprecationWarning, match="is (now )?deprecated"):
            (output,) = run(library, name, [IMAGES], {}, CALLS[name])
        results.append(output)
    theirs, ours = results
    assert (ours.layout, ours.dtype) == (theirs.layout, theirs.dtype)
    for mine, expected in zip(ours.samples, theirs.samples, strict=True):
        np.testing.assert_array_equal(mine, expected, strict=True)


def test_fast_resize_crop_mirror() -> None:
    image = ([np.random.default_rng(0).integers(0, 255, (60, 50, 3)).astype(np.uint8)], "HWC")
    results = []
    for library in (reference, dali_core):
        with pytest.warns(DeprecationWarning, match="is (now )?deprecated"):
            (output,) = run(library, "fast_resize_crop_mirror", [image], {}, {"size": (7, 9)})
        results.append(output.samples[0].astype(int))
    assert np.abs(results[0] - results[1]).max() <= 1
