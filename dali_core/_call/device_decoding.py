"""Decoders on a device, beside one on the host for the files that they refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from dali_core._call.bound import Output
from dali_core._call.values import Caller, Value
from dali_core._registry.specs import spec_of_role
from dali_core._spec import DeviceDecoding, DeviceVideos, Source

# Of the operator whose result the call gives.
_OF_RESULT = ("name", "preserve")


class Binder(Caller, Protocol):
    """Binds the calls of operators that decode.

    Attributes
    ----------
    replaces_failed : bool, optional
        Whether good samples take the place of bad ones.
    """

    replaces_failed: bool | None

    def unless(self, value: Value) -> AbstractContextManager[None]:
        """Bind calls of operators that run only for samples where a value is False."""
        ...


def decode_on_device(
    binder: Binder, how: DeviceDecoding, inputs: Sequence[Value], keywords: Mapping[str, Any]
) -> Output | None:
    """Bind the calls of operators that a call of a decoder on a device stands for.

    What fails on the device ends the batch. So where other samples take the place of bad ones, the
    host decodes what may fail, which are windows outside of their images.

    Parameters
    ----------
    binder : Binder
        Binds the calls.
    how : DeviceDecoding
        The operators.
    inputs : sequence of Value
        Encoded files, and further inputs of what cuts windows out.
    keywords : dict
        Arguments of the call.

    Returns
    -------
    Output or None
        The images; None if the host has to decode, and nothing was bound.
    """
    if how.cut is not None and how.window is None and binder.replaces_failed:
        return None
    first, *others = inputs
    of_result = {name: keywords[name] for name in _OF_RESULT if keywords.get(name) is not None}
    encoded = _call(binder, how.check, first)
    decoded = _call(binder, how.decoder, encoded)
    is_decoded = _is_there(binder, decoded)
    copied = _copied_otherwise(binder, is_decoded, how.otherwise, encoded)
    merge = Source(how.merge, of_result if how.cut is None else {})
    image = _call(binder, merge, is_decoded, decoded, copied)
    if how.cut is None:
        return image
    if how.window is not None:
        shape = _call(binder, Source(spec_of_role("shape"), {}), image)
        others = binder.call(how.window.spec, (shape,), how.window.keywords)
    return _call(binder, Source(how.cut.spec, {**how.cut.keywords, **of_result}), image, *others)


def read_videos_on_device(
    binder: Binder, how: DeviceVideos, keywords: Mapping[str, Any]
) -> Output | list[Output] | None:
    """Bind the calls of operators that a call of a reader of videos on a device stands for.

    Where other samples take the place of bad ones, readers do so on the host.

    Parameters
    ----------
    binder : Binder
        Binds the calls.
    how : DeviceVideos
        The operators.
    keywords : dict
        Arguments of the call.

    Returns
    -------
    Output, list of Output, or None
        What the reader gives, on the device; None if the host has to decode, and nothing was bound.
    """
    if binder.replaces_failed:
        return None
    listed: list[Output] = binder.call(how.reader, (), {**keywords, "device": "cpu"})
    path, numbers, *others = listed
    description = _call(binder, how.describe, path)
    surfaces = _call(binder, how.decoder, path, numbers, description)
    is_decoded = _is_there(binder, surfaces)
    copied = _copied_otherwise(binder, is_decoded, how.otherwise, path, numbers)
    convert = Source(how.convert.spec, {**how.convert.keywords, "description": description})
    frames = _call(
        binder, Source(how.merge, {}), is_decoded, _call(binder, convert, surfaces), copied
    )
    return [frames, *(other.gpu() for other in others)] if others else frames


def _is_there(binder: Binder, decoded: Output) -> Output:
    shape = _call(binder, Source(spec_of_role("shape"), {}), decoded)
    return shape[0] > 0


def _copied_otherwise(binder: Binder, is_decoded: Output, how: Source, *inputs: Output) -> Output:
    """Let the host decode those samples that the device has refused."""
    with binder.unless(is_decoded):
        return _call(binder, how, *inputs).gpu()


def _call(binder: Binder, source: Source, *inputs: Value) -> Output:
    result: Output = binder.call(source.spec, inputs, source.keywords)
    return result
