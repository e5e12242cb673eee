"""Runs operators with extreme numbers as sizes, counts or positions.

``python -m tests.operators.extreme_numbers 0 1`` tests every numeric argument of every operator: as
a constant, per sample, and in a modified document. Each call must return readable results, or raise
an error of this library that names the operator. The two numbers select a part: every n-th
operator, from the first one on. The program exits with 1 after a wrong outcome; after a crash or a
hang, the last line on stderr names the call.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import numpy as np

from dali_core import Pipeline, fn
from dali_core._call.arguments import all_args
from dali_core._registry.specs import all_specs, identity, specs_by_identity
from dali_core._spec import Arg, OpSpec
from dali_core.errors import DaliCoreError, SampleError, SerializationError, title_of
from tests.operators.suite import Example, find_examples, function_of, list_of, present_names

NUMBERS = (2**31, 2**32 + 1, 2**53, 2**61 + 1, 2**62 + 1, 2**63 - 1, -1, -(2**31) - 1, -(2**63))
MEMORY_LIMIT = 1 << 24  # of the library, in bytes
ADDRESS_SPACE = 8 << 30
SECONDS = 20  # that a call may take
BATCH = 2

Arguments = dict[str, Any]
Outcome = list[list[np.ndarray]] | None


def numeric_args(operator: str) -> list[Arg]:
    """Return the arguments that are numbers, or lists of them.

    One operator represents all if they share arguments that have no effect.
    """
    found = []
    for arg in all_args(all_specs()[operator]):
        if arg.name == "bytes_per_sample_hint" and operator != "copy":
            continue
        item = get_args(arg.type)[0] if get_origin(arg.type) is list else arg.type
        if item in (int, float):
            found.append(arg)
    return found


def replacements(arg: Arg, before: Any, number: int) -> Iterator[Any]:
    """Return values of an argument with a number in it: everywhere, and only at the front."""
    item = get_args(arg.type)[0] if get_origin(arg.type) is list else arg.type
    if get_origin(arg.type) is not list:
        yield item(number)
        return
    values = list(np.ravel(before)) if before is not None else [1]
    yield [item(number)] * max(len(values), 1)
    if len(values) > 1:
        yield [item(number), *(item(value) for value in values[1:])]


def define(pipeline: Pipeline, operator: str, example: Example, arguments: Arguments) -> None:
    """Create the graph of an example; arrays are per-sample arguments."""
    with pipeline:
        inputs = [
            fn.external_source(name=f"input {i}", layout=data.layout or None)
            for i, data in enumerate(example.inputs)
        ]
        nodes = {
            name: fn.external_source(name=name)
            for name, value in arguments.items()
            if isinstance(value, np.ndarray)
        }
        outputs = function_of(operator)(*inputs, **{**arguments, **nodes})
        pipeline.set_outputs(*list_of(outputs))


def run(pipeline: Pipeline, example: Example, arguments: Arguments) -> Outcome:
    """Run one batch, and read all outputs."""
    pipeline.build()
    for i, data in enumerate(example.inputs):
        pipeline.feed_input(f"input {i}", [data.make(number) for number in range(BATCH)])
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            pipeline.feed_input(name, [value] * BATCH)
    return [[np.array(batch.at(i)) for i in range(len(batch))] for batch in pipeline.run()]


def make() -> Pipeline:
    return Pipeline(BATCH, 1, None, seed=1, prefetch_queue_depth=1)


def has_argument(entry: Any, spec: OpSpec, names: set[str]) -> bool:
    """Return whether an operator in a document has arguments that a call of `spec` gives."""
    if entry["operator"] == identity(spec):
        return not spec.hands_to_reader or {arg.name for arg in spec.args} >= names
    found = specs_by_identity()[entry["operator"]]
    is_reader = spec.hands_to_reader and found.reader is not None
    return is_reader and {arg.name for arg in all_args(found)} >= names


class Checker:
    """Runs calls one by one, and records failures."""

    def __init__(self) -> None:
        self.num_calls = 0
        self.num_refused = 0
        self.wrong: list[str] = []

    def check(self, what: str, operator: str, call: Any) -> Outcome:
        """Run a call that may only fail by an error of the library; any other ends the program."""
        print(what, file=sys.stderr, flush=True)
        self.num_calls += 1
        begin = time.process_time()
        result = None
        try:
            result = call()
        except DaliCoreError as error:
            self.num_refused += 1
            if title_of(operator) not in str(error) and not isinstance(error, SerializationError):
                self.wrong.append(f"{what}: names no operator: {error!r}")
            if isinstance(error, SampleError) and error.location == "":
                self.wrong.append(f"{what}: has no place: {error!r}")
        if time.process_time() - begin > SECONDS:
            self.wrong.append(f"{what}: took {time.process_time() - begin:.0f} s")
        return result

    def check_call(
        self, operator: str, example: Example, arguments: Arguments, what: str
    ) -> Outcome:
        def call() -> Outcome:
            with make() as pipeline:
                define(pipeline, operator, example, arguments)
                return run(pipeline, example, arguments)

        return self.check(what, operator, call)

    def check_document(
        self, document: Any, operator: str, example: Example, change: Arguments, what: str
    ) -> Outcome:
        def call() -> Outcome:
            changed = json.loads(document)
            spec = all_specs()[operator]
            entries = [
                entry for entry in changed["operators"] if has_argument(entry, spec, set(change))
            ]
            assert entries
            for entry in entries:
                entry["arguments"] = {**entry.get("arguments", {}), **change}
            with Pipeline.deserialize(json.dumps(changed)) as pipeline:
                return run(pipeline, example, {})

        return self.check(what, operator, call)

    def check_operator(self, operator: str, folder: Path) -> None:
        """Test all numeric arguments of an operator."""
        given = {example.name: example.arguments_in(folder) for example in find_examples(operator)}
        for arg in numeric_args(operator):
            examples = find_examples(operator)
            example = next((one for one in examples if arg.name in given[one.name]), examples[0])
            arguments = given[example.name]
            try:
                with make() as pipeline:
                    define(pipeline, operator, example, arguments)
                    document = pipeline.serialize()
            except SerializationError:
                document = None
            for number in NUMBERS:
                for value in replacements(arg, arguments.get(arg.name), number):
                    what = f"{title_of(operator)}({arg.name}={value}), example {example.name}"
                    changed = {**arguments, arg.name: value}
                    direct = self.check_call(operator, example, changed, what)
                    if document is not None:
                        written = self.check_document(
                            document, operator, example, {arg.name: value}, f"{what}, document"
                        )
                        self.compare(direct, written, what)
                    if arg.tensor:
                        changed = {**arguments, arg.name: np.asarray(value)}
                        self.check_call(operator, example, changed, f"{what}, per sample")

    def compare(self, direct: Outcome, written: Outcome, what: str) -> None:
        """A document is equivalent to the call."""
        if (direct is None) != (written is None):
            self.wrong.append(f"{what}: call and document differ")
        elif direct is not None and written is not None:
            for ours, theirs in zip(direct, written, strict=True):
                for mine, other in zip(ours, theirs, strict=True):
                    if mine.tobytes() != other.tobytes():
                        self.wrong.append(f"{what}: call and document give different results")


def main(first: int, step: int) -> int:
    """Check every `step`-th operator."""
    os.environ["DALI_CORE_MEMORY_LIMIT"] = str(MEMORY_LIMIT)
    if "ASAN_OPTIONS" not in os.environ:  # which reserves more memory than the limit
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    checker = Checker()
    with tempfile.TemporaryDirectory() as folder:
        for number, operator in enumerate(present_names()[first::step]):
            own = Path(folder, str(number))
            own.mkdir()
            checker.check_operator(operator, own)
    print("\n".join(checker.wrong))
    print(
        f"{checker.num_calls} calls, {checker.num_refused} refused, {len(checker.wrong)} wrong",
        flush=True,
    )
    return bool(checker.wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
