"""Decoders on a device, beside one on the host for the files that they refuse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core._graph.build import add_operator
from dali_core._graph.context import current_pipeline
from dali_core._graph.node import Condition, DataNode
from dali_core._graph.registry import spec_of_role
from dali_core._spec import DeviceDecoding, Source

# Of the node whose result the call gives.
_OF_RESULT = ("name", "preserve")


def decode_on_device(
    how: DeviceDecoding, inputs: tuple[Any, ...], keywords: Mapping[str, Any]
) -> DataNode | None:
    """Add the operators of a call of a decoder to the pipeline that is being defined.

    What fails on the device ends the batch. So where other samples take the place of bad ones, the
    host decodes what may fail, which are windows outside of their images.

    Parameters
    ----------
    how : DeviceDecoding
        The operators.
    inputs : tuple of DataNode
        Encoded files, and further inputs of what cuts windows out.
    keywords : dict
        Arguments of the call.

    Returns
    -------
    DataNode or None
        The images; None if the host has to decode, and nothing was added. That is so outside of
        pipelines as well, where nobody knows what will happen to bad samples.
    """
    pipeline = current_pipeline()
    if pipeline is None:
        return None
    if how.cut is not None and how.window is None and pipeline._replaces_failed:
        return None
    encoded, *others = inputs
    of_result = {name: keywords[name] for name in _OF_RESULT if keywords.get(name) is not None}
    graph = pipeline._graph
    encoded = _call(how.check, encoded)
    decoded = _call(how.decoder, encoded)
    shape = _call(Source(spec_of_role("shape"), {}), decoded)
    is_decoded = shape[0] > 0
    outside = graph.conditions
    graph.conditions = (*outside, Condition(is_decoded, False))
    try:
        copied = _call(how.otherwise, encoded).gpu()
    finally:
        graph.conditions = outside
    merge = Source(how.merge, of_result if how.cut is None else {})
    image = _call(merge, is_decoded, decoded, copied)
    if how.cut is None:
        return image
    if how.window is not None:
        shape = _call(Source(spec_of_role("shape"), {}), image)
        drawn = add_operator(how.window.spec, (shape,), how.window.keywords)
        assert isinstance(drawn, list)
        others = drawn
    return _call(Source(how.cut.spec, {**how.cut.keywords, **of_result}), image, *others)


def _call(source: Source, *inputs: Any) -> DataNode:
    result = add_operator(source.spec, inputs, source.keywords)
    assert isinstance(result, DataNode)
    return result
