"""Pending calls: what they need, and how the wanted ones are computed together."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter_ns
from types import MappingProxyType
from typing import TYPE_CHECKING

from dali_core._call.location import location_of
from dali_core._runtime.call_executor import SampleIds
from dali_core._runtime.executor import Batch
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.dynamic._context import MAX_SLOTS, EvalContext, EvalMode
from dali_core.dynamic._plans import Plan, find_plan
from dali_core.dynamic._templates import Template
from dali_core.errors import (
    BadSample,
    DaliCoreError,
    SampleError,
    SampleRangeError,
    SampleValueError,
)

if TYPE_CHECKING:
    from types import FrameType

    from dali_core.dynamic._rng import Draws, Seeds

_numbers = itertools.count()
_CLASSES: Mapping[type[Exception] | None, type[SampleError]] = MappingProxyType(
    {None: SampleError, ValueError: SampleValueError, IndexError: SampleRangeError}
)
# A chain of pending calls that is longer is computed.
_MAX_DEPTH = 128
# The largest number of calls in a plan; each may stand for a few operators.
_MAX_CALLS = MAX_SLOTS // 8
# What takes less in all is computed by the thread that needs it: others would be woken for nothing.
_SHORT_NANOSECONDS = 100_000
# Python looks for signals, such as Ctrl-C, between two waits.
_WAIT_SECONDS = 0.1


class Result:
    """A value that is known, or the result of a pending call."""

    __slots__ = ("__weakref__", "_call", "_data", "_ids", "_index", "_size", "_users")

    _call: Call | None
    _data: TensorListCPU | None
    _ids: SampleIds | None
    _index: int
    _size: int | None
    _users: list[weakref.ref[Call]]

    def _complete(self, data: TensorListCPU) -> None:
        """Take the data that was computed."""
        self._data = data
        self._call = None
        self._users = []


class Call:
    """A call that has not been computed, or not for all of its results.

    Parameters
    ----------
    template : Template
        What it stands for.
    inputs : sequence of Result
        The values of the template's form.
    size : int, optional
        Samples in the batch; None for a call on single tensors.
    ids : SampleIds, optional
        What the random numbers of the samples depend on.
    draws : sequence of int
        For each operator that draws random numbers for samples without ids, the number of its call.
    seeds : tuple of (int, int)
        For each that draws for samples with ids, its seed and its place among them.
    frame : FrameType
        The frame of the user's line.
    """

    __slots__ = (
        "__weakref__",
        "_code",
        "_line",
        "depth",
        "draws",
        "ids",
        "inputs",
        "number",
        "results",
        "seeds",
        "size",
        "template",
    )

    def __init__(
        self,
        template: Template,
        inputs: Sequence[Result],
        size: int | None,
        ids: SampleIds | None,
        draws: Draws,
        seeds: Seeds,
        frame: FrameType,
    ) -> None:
        self.number = next(_numbers)
        self.template = template
        self.size = size
        self.ids = ids
        self.draws = draws
        self.seeds = seeds
        self._code, self._line = frame.f_code, frame.f_lineno
        self.results: list[weakref.ref[Result] | None] = []
        self.inputs = inputs
        self.depth = 0
        for value in inputs:
            call = value._call
            if call is not None:
                if call.depth >= _MAX_DEPTH:
                    evaluate([value])
                    continue
                value._users.append(weakref.ref(self))
                if call.depth >= self.depth:
                    self.depth = call.depth + 1

    @property
    def location(self) -> str:
        """File and line of the user's program."""
        return location_of(self._code.co_filename, self._line)

    def pending(self) -> list[Result]:
        """List the results that are in use, and not computed."""
        found = (reference() for reference in self.results if reference is not None)
        return [value for value in found if value is not None and value._call is self]

    def evaluate(self) -> None:
        """Compute all results that are in use."""
        wanted = self.pending()
        if wanted:
            evaluate(wanted)


def evaluate(wanted: Sequence[Result]) -> None:
    """Compute results of one call, and all that they depend on.

    Parameters
    ----------
    wanted : sequence of Result
        Pending results of one call.

    Raises
    ------
    SampleError
        If an operator fails. The results stay pending.
    """
    call = wanted[0]._call
    if call is None:
        return
    calls = _needed(call)
    while len(calls) > _MAX_CALLS:
        evaluate(calls[_MAX_CALLS // 2].pending() or [_any_used(calls, _MAX_CALLS // 2)])
        calls = _needed(call)
    _Computation(calls, wanted).run()


def _any_used(calls: Sequence[Call], number: int) -> Result:
    """Return a pending result of one of some calls that another one uses."""
    early = set(calls[:number])
    return next(v for call in calls[number:] for v in call.inputs if v._call in early)


def _needed(last: Call) -> list[Call]:
    """List the pending calls that one depends on, and itself, in their order.

    Those on other batches are computed first.
    """
    found = {last}
    waiting = [last]
    while waiting:
        for value in waiting.pop().inputs:
            call = value._call
            if call is None or call in found:
                continue
            if call.size != last.size or not _have_same_ids(call, last):
                evaluate(call.pending())
                continue
            found.add(call)
            waiting.append(call)
    return sorted(found, key=lambda call: call.number)


def _have_same_ids(one: Call, other: Call) -> bool:
    return one.ids is other.ids or not one.seeds


def _alive(users: Iterable[weakref.ref[Call]]) -> Iterator[Call]:
    for reference in users:
        call = reference()
        if call is not None:
            yield call


class _Computation:
    """One run of a plan for some calls."""

    def __init__(self, calls: Sequence[Call], requested: Sequence[Result]) -> None:
        self._calls = calls
        index = {call: number for number, call in enumerate(calls)}
        self._leaves: list[TensorListCPU] = []
        known: dict[int, int] = {}
        described = []
        for call in calls:
            sources = []
            for value in call.inputs:
                data = value._data
                if data is None:
                    owner = value._call
                    assert owner is not None
                    sources.append((index[owner], value._index))
                    continue
                number = known.setdefault(id(data), len(self._leaves))
                if number == len(self._leaves):
                    self._leaves.append(data)
                sources.append((-1, number))
            described.append((call.template.number, tuple(sources), call.seeds))
        # What calls outside of these use as well is computed once.
        shared = [
            value
            for call in calls[:-1]
            for value in call.pending()
            if any(user not in index for user in _alive(value._users))
        ]
        self._wanted = [*requested, *shared]
        outputs = tuple((index[value._call], value._index) for value in self._wanted)  # type: ignore[index]
        self._structure = (tuple(described), outputs)

    def run(self) -> None:
        """Compute the values."""
        last = self._calls[-1]
        try:
            plan = find_plan([call.template for call in self._calls], self._structure)
        except DaliCoreError as error:
            raise self._located(error) from None
        step = None
        if last.ids is not None and not any(call.draws for call in self._calls):
            step = last.ids.step
        batch = step.take(self._structure, self._leaves) if step is not None else None
        begin = 0
        executor = EvalContext.current().executor()
        size = 1 if last.size is None else last.size
        if batch is None:
            begin = perf_counter_ns()
            here = size * plan.nanoseconds < _SHORT_NANOSECONDS or size == 1
            given = [(value, self._leaves[number]) for value, number in plan.given]
            batch = executor.start(plan.prepared, size, last.ids, self._draws(plan), given, here)
        while not executor.wait(batch, _WAIT_SECONDS):
            pass
        failures = batch.failures()
        if failures:
            raise self._error(plan, batch, failures)
        if begin:
            plan.nanoseconds = (perf_counter_ns() - begin) / max(size, 1)
        if step is not None:
            step.note(self._structure, plan, self._leaves, last.size)
        for value, data in zip(self._wanted, executor.outputs(batch), strict=True):
            value._complete(data)

    def _draws(self, plan: Plan) -> list[int]:
        """Return for each operator the number of its call, and 0 for those that have seeds."""
        if not any(call.draws for call in self._calls):
            return []
        return [
            self._calls[call].draws[which] if which >= 0 and self._calls[call].draws else 0
            for call, which in plan.random
        ]

    def _located(self, error: DaliCoreError) -> DaliCoreError:
        where = self._calls[-1].location
        if isinstance(error, DaliCoreError) and error.args and where not in str(error):
            error.args = (f"{error.args[0]} (called at {where})", *error.args[1:])
        return error

    def _error(
        self, plan: Plan, batch: Batch, failures: Iterable[tuple[int, int, str, str]]
    ) -> SampleError:
        bad = []
        for sample, node, message, source in failures:
            call, operator = plan.nodes[node] if node >= 0 else (len(self._calls) - 1, "")
            location = self._calls[call].location
            epoch = batch.key(max(sample, 0))[0] if batch.size else 0
            bad.append(
                BadSample(
                    operator=operator,
                    location=location,
                    epoch=epoch,
                    iteration=0,
                    sample=sample,
                    source=source or None,
                    message=message,
                )
            )
        first = bad[0]
        return _CLASSES[batch.failure_kind()](
            first.message,
            operator=first.operator,
            location=first.location,
            epoch=first.epoch,
            sample=first.sample if first.sample >= 0 else None,
            source=first.source,
            failures=[entry for entry in bad if entry.sample >= 0],
        )


def started(call: Call, results: Sequence[Result]) -> None:
    """Note the results of a call that was made, and compute them at once if the mode says so."""
    call.results = [weakref.ref(value) for value in results]
    mode = EvalMode.current()
    if mode is EvalMode.sync_cpu or mode is EvalMode.sync_full:
        call.evaluate()
        return
    context = EvalContext.current()
    context.note(call)
