"""Shared parts of decoder tests: decoding a list of files, and selecting the JPEG decoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core._registry.specs import all_specs
from dali_core._runtime.executor import NativeOperator
from dali_core.errors import SampleError
from dali_core.operators.decoders.backends import JPEG_VARIABLE, backend_arguments
from tests.operators.suite import Example, Input, pipeline

JPEG_LIBRARIES = ("default", "libjpeg", "nvimgcodec")


def use_jpeg_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode JPEG with this decoder from now on, or skip the test if it is not available.

    ``own`` decodes only with our own decoder; ``default`` falls back to a library.
    """
    if name == "default":
        monkeypatch.delenv(JPEG_VARIABLE, raising=False)
        return
    monkeypatch.setenv(JPEG_VARIABLE, name)
    if name == "nvimgcodec" and "codec_library" not in backend_arguments():
        pytest.skip("not available: nvImageCodec")
    if name == "libjpeg" and not has_libjpeg():
        pytest.skip("not available: libjpeg-turbo in this build")


def has_libjpeg() -> bool:
    """Whether the build decodes with libjpeg-turbo."""
    try:
        NativeOperator("decoders.image", {"jpeg_backend": "libjpeg"}, [], 0, -1, 1, 1)
    except ValueError as error:
        if "which this build is without" not in str(error):
            raise
        return False
    return True


def decode(
    files: Sequence[bytes], operator: str = "image", *, layout: str | None = None, **arguments: Any
) -> list[np.ndarray]:
    """Decode files in one batch of two threads."""
    samples = [np.frombuffer(file, np.uint8) for file in files]
    with pipeline(batch_size=len(samples), num_threads=2) as made:
        with made:
            data = fn.external_source(source=lambda: samples)
            made.set_outputs(getattr(fn.decoders, operator)(data, **arguments))
        (batch,) = made.run()
        assert batch.layout() == "HWC"
        return [np.array(batch.at(i)) for i in range(len(samples))]


def decode_one(file: bytes, operator: str = "image", **arguments: Any) -> np.ndarray:
    return decode([file], operator, **arguments)[0]


def failure(file: bytes, operator: str = "image", **arguments: Any) -> str:
    """Return the message with which a file is rejected."""
    with pytest.raises(SampleError) as caught:
        decode([file], operator, **arguments)
    assert caught.value.operator == f"decoders.{operator}"
    assert caught.value.sample == 0
    return caught.value.message


def file_examples(files: Sequence[bytes], **arguments: Any) -> Example:
    """Make an example whose samples are these files, over and over."""
    samples = [np.frombuffer(file, np.uint8) for file in files]
    return Example("files", [Input(lambda number: samples[number % len(samples)])], arguments)


def accepted_arguments(operator: str) -> set[str]:
    return {arg.name for arg in all_specs()[f"decoders.{operator}"].args}
