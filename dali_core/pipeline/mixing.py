"""Mixtures of data sets, while a pipeline is being defined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from dali_core._call.location import user_location
from dali_core._graph.graph import Graph, add_operator, current_graph
from dali_core._graph.node import DataNode
from dali_core._readers.mixtures import ALL, FIRST
from dali_core._registry.specs import spec_of_role
from dali_core.errors import ArgumentTypeError, ArgumentValueError, GraphError


def mix_readers(
    functions: Sequence[Callable[[], Any]],
    weights: Sequence[float] | None = None,
    length: int | Literal["first", "all"] = "first",
    *,
    num_shards: int = 1,
    shard_id: int = 0,
    interleaved_shards: bool = False,
    pad_last_batch: bool = False,
    seed: int = -1,
    name: str | None = None,
) -> Any:
    """Read several data sets in turn, with a share of the samples for each.

    Which data set gives a sample is random; its share of every epoch is exact. Each data set has
    epochs, a seed, shuffling and a sampler of its own, and is read on from epoch to epoch of the
    mixture. What a function calls besides a reader, such as a decoder, runs for its samples only.

    Parameters
    ----------
    functions : sequence of callable
        For each data set a function without arguments, which calls a reader and returns values of
        the graph: one, or a tuple, list or dict. All must return the same structure, and samples of
        the same type and number of dimensions.
    weights : sequence of float, optional
        Share of each data set, in any unit. By default in proportion to their numbers of samples.
    length : int, "first" or "all"
        Samples in an epoch of the mixture: their number, or as many as until the first data set
        has been read once, or until all have (the others are read several times).
    num_shards, shard_id, interleaved_shards, pad_last_batch
        As for readers. The mixture is divided, not each data set.
    seed : int
        Seed of the choice; it must be the same in all shards.
    name : str, optional
        Name by which iterators and `Pipeline.epoch_size` find the mixture, like a reader.

    Returns
    -------
    DataNode, or a structure of them
        What the functions return, for each sample from one of them.

    Raises
    ------
    GraphError
        If no pipeline is being defined, or the functions return different structures, or one that
        is not of a reader.
    ArgumentTypeError, ArgumentValueError
        If an argument does not fit.
    """
    where = f"mix_readers at {user_location()}"
    graph = current_graph()
    if not isinstance(graph, Graph):
        raise GraphError(
            f"{where}: a pipeline must be being defined (none is). Call it inside a @pipeline_def "
            "function."
        )
    if graph.mixes_readers:
        raise GraphError(
            f"{where}: must not be called by a function of another mixture (it was). Pass all data "
            "sets to one mixture."
        )
    functions = list(functions)
    for number, function in enumerate(functions):
        if not callable(function):
            raise ArgumentTypeError(
                f"{where}: functions[{number}] must be callable (got {function!r:.100}). Pass "
                "functions without arguments that call a reader, such as lambdas."
            )
    if len(functions) < 2:
        raise ArgumentValueError(
            f"{where}: functions must be at least two (got {len(functions)}). Call a single reader "
            "directly."
        )
    if weights is not None and len(weights) != len(functions):
        raise ArgumentValueError(
            f"{where}: weights must have an entry for each of the {len(functions)} data sets (got "
            f"{len(weights)}). Pass as many."
        )
    is_unknown = isinstance(length, str) and length not in _LENGTHS
    if is_unknown or length in (FIRST, ALL):
        raise ArgumentValueError(
            f"{where}: length must be a positive number, 'first' or 'all' (got {length!r}). Pass "
            "one of these."
        )
    chosen = add_operator(
        spec_of_role("mixture"),
        (),
        {
            "num_sets": len(functions),
            "weights": weights,
            "length": _LENGTHS.get(length, length) if isinstance(length, str) else length,
            "num_shards": num_shards,
            "shard_id": shard_id,
            "interleaved_shards": interleaved_shards,
            "pad_last_batch": pad_last_batch,
            "seed": seed,
            "name": name,
        },
    )
    assert isinstance(chosen, DataNode)
    graph.mixes_readers = True
    try:
        return _mix(graph, chosen, functions, 0, where)
    finally:
        graph.mixes_readers = False


def _mix(
    graph: Graph, chosen: DataNode, functions: Sequence[Callable[[], Any]], number: int, where: str
) -> Any:
    """Return what one of the functions from a number on gives for each sample."""
    from dali_core.pipeline.conditionals.merging import Unmergeable, merge
    from dali_core.pipeline.conditionals.split import Split

    if number == len(functions) - 1:
        return _called(graph, functions[number], number, where)
    last = len(functions) - 1
    others = f"{last}" if number + 1 == last else f"{number + 1} to {last}"
    split = Split(chosen == number, title=f"mix_readers, data sets {number} and {others}")
    with split.side(True):
        this = _called(graph, functions[number], number, where)
    with split.side(False):
        following = _mix(graph, chosen, functions, number + 1, where)
    try:
        return merge(split, this, following)
    except Unmergeable as problem:
        raise GraphError(
            f"{where}: all functions must return the same structure of values (functions "
            f"{number} and {number + 1} do not: {problem}). Give them equally many outputs."
        ) from problem


def _called(graph: Graph, function: Callable[[], Any], number: int, where: str) -> Any:
    before = len(graph.nodes)
    result = function()
    if not any(node.spec.reader is not None for node in graph.nodes[before:]):
        raise GraphError(
            f"{where}: functions[{number}] must call a reader (it called none). Call it in there, "
            "not before."
        )
    return result


_LENGTHS = {"first": FIRST, "all": ALL}
