"""Decoders on a device, beside one on the host for the files that they refuse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dali_core._graph.graph import Graph, current_graph
from dali_core._graph.node import Condition, DataNode
from dali_core._graph.registry import spec_of_role
from dali_core._recorder import recorder
from dali_core._spec import DeviceDecoding, DeviceVideos, Source

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
        pipelines as well, where the handling of bad samples is unknown.
    """
    graph = current_graph()
    if not isinstance(graph, Graph):
        return None
    if how.cut is not None and how.window is None and graph.replaces_failed:
        return None
    encoded, *others = inputs
    of_result = {name: keywords[name] for name in _OF_RESULT if keywords.get(name) is not None}
    encoded = _call(how.check, encoded)
    decoded = _call(how.decoder, encoded)
    is_decoded = _is_there(decoded)
    copied = _copied_otherwise(is_decoded, how.otherwise, encoded)
    merge = Source(how.merge, of_result if how.cut is None else {})
    image = _call(merge, is_decoded, decoded, copied)
    if how.cut is None:
        return image
    if how.window is not None:
        shape = _call(Source(spec_of_role("shape"), {}), image)
        drawn = recorder.add_operator(how.window.spec, (shape,), how.window.keywords)
        assert isinstance(drawn, list)
        others = drawn
    return _call(Source(how.cut.spec, {**how.cut.keywords, **of_result}), image, *others)


def read_videos_on_device(
    how: DeviceVideos, keywords: Mapping[str, Any]
) -> DataNode | list[DataNode] | None:
    """Add the operators of a call of a reader of videos to the pipeline that is being defined.

    Where other samples take the place of bad ones, readers do so on the host.

    Parameters
    ----------
    how : DeviceVideos
        The operators.
    keywords : dict
        Arguments of the call.

    Returns
    -------
    DataNode, list of DataNode, or None
        What the reader gives, on the device; None if the host has to decode, and nothing was added.
    """
    graph = current_graph()
    if not isinstance(graph, Graph) or graph.replaces_failed:
        return None
    listed = recorder.add_operator(how.reader, (), {**keywords, "device": "cpu"})
    assert isinstance(listed, list)
    path, numbers, *others = listed
    description = _call(how.describe, path)
    surfaces = _call(how.decoder, path, numbers, description)
    is_decoded = _is_there(surfaces)
    copied = _copied_otherwise(is_decoded, how.otherwise, path, numbers)
    convert = Source(how.convert.spec, {**how.convert.keywords, "description": description})
    frames = _call(Source(how.merge, {}), is_decoded, _call(convert, surfaces), copied)
    return [frames, *(other.gpu() for other in others)] if others else frames


def _is_there(decoded: DataNode) -> DataNode:
    shape = _call(Source(spec_of_role("shape"), {}), decoded)
    result = shape[0] > 0
    assert isinstance(result, DataNode)
    return result


def _copied_otherwise(is_decoded: DataNode, how: Source, *inputs: DataNode) -> DataNode:
    """Let the host decode those samples that the device has refused."""
    graph = current_graph()
    outside = graph.conditions
    graph.conditions = (*outside, Condition(is_decoded, False))
    try:
        return _call(how, *inputs).gpu()
    finally:
        graph.conditions = outside


def _call(source: Source, *inputs: Any) -> DataNode:
    result = recorder.add_operator(source.spec, inputs, source.keywords)
    assert isinstance(result, DataNode)
    return result
