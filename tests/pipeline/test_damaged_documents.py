"""Invalid documents: one error, which names the position, and nothing is executed."""

from __future__ import annotations

import copy
import enum
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, pipeline_def, types
from dali_core._registry.specs import identity, specs_by_identity
from dali_core._storage.access import Access
from dali_core.errors import DaliCoreError, SerializationError
from dali_core.pipeline._documents import document_arguments
from dali_core.pipeline._serialization import Document


def written() -> dict[str, Any]:
    with Pipeline(2, 1, None, seed=1, prefetch_queue_depth={"cpu_size": 1, "gpu_size": 1}) as made:
        data = fn.external_source(name="data", layout="HWC")
        resized = fn.resize(data, size=[4.0, 5.0], interp_type=types.INTERP_NN)
        turned = fn.rotate(resized, angle=fn.random.uniform(range=[-5.0, 5.0]))
        made.set_outputs(
            turned,
            fn.one_hot(fn.constant(idata=[3], shape=[1]), num_classes=5),
            fn.normalize(turned, batch=True),
        )
    document: dict[str, Any] = json.loads(made.serialize())
    return document


DOCUMENT = written()


def branching() -> dict[str, Any]:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
    def graph() -> Any:
        data = fn.external_source(name="data")
        if fn.random.coin_flip(dtype=types.BOOL):
            data = fn.copy(data)
        return data

    document: dict[str, Any] = json.loads(graph().serialize())
    return document


BRANCHES = branching()


def read(document: Any) -> Pipeline:
    return Pipeline.deserialize(json.dumps(document))


def test_the_document_is_good() -> None:
    names = [entry["operator"] for entry in DOCUMENT["operators"]]
    assert names == [
        "external_source",
        "resize",
        "random.uniform",
        "rotate",
        "constant",
        "one_hot.only_single_numbers",
        "one_hot",
        "normalize.statistics",
        "normalize.batch_statistics",
        "normalize",
    ]
    assert read(DOCUMENT).num_outputs == 3


def test_operators_have_different_identities() -> None:
    for name, spec in specs_by_identity().items():
        assert identity(spec) == name


def edit(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *before, last = path
        place: Any = document
        for step in before:
            place = place[step]
        place[last] = to

    return change


def without(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *before, last = path
        place: Any = document
        for step in before:
            place = place[step]
        del place[last]

    return change


RESIZE = ("operators", 1)
SIZE = (*RESIZE, "arguments", "size")
ARRAY = {"dtype": "float32", "shape": [2], "data": "AACAPwAAAEA="}
CHANGES: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (edit("format", to="zip"), r"format must be 'dali_core.pipeline' \(got 'zip'\)"),
    (edit("version", to=2), r"version must be 1 \(got 2\). Use the version of dali_core that"),
    (edit("version", to=True), "version must be 1"),
    (without("version"), "the document: must have the keys.*without 'version'"),
    (without("operators"), "without 'operators'"),
    (edit("code", to="print()"), "with 'code'"),
    (edit("options", to=[]), "options must be an object"),
    (edit("options", "batch_size", to="two"), "options must.*batch_size must be a positive int"),
    (edit("options", "bach_size", to=2), "options.bach_size must be an argument"),
    (edit("options", "checkpoint", to="x"), "options.checkpoint must be an argument"),
    (edit("options", "self", to=1), "options.self must be an argument"),
    (edit("options", "num_threads", to=10**9), "num_threads must be at most 4096"),
    (
        edit("options", "output_dtype", to={"enum": "os.system"}),
        r"output_dtype must be a valid enum",
    ),
    (edit("operators", to={}), "operators: must be a list"),
    (edit("operators", 1, to=[]), r"operators\[1\]: must be an object"),
    (edit(*RESIZE, "operator", to="rezise"), r"operators\[1\].operator: must be.*'rezise'"),
    (edit(*RESIZE, "operator", to=["resize"]), r"operators\[1\].operator"),
    (edit(*RESIZE, "function", to="x"), r"operators\[1\]: must have.*with 'function'"),
    (without(*RESIZE, "name"), r"operators\[1\]: must have.*without 'name'"),
    (edit(*RESIZE, "name", to="data"), r"operators\[1\]: .*name must be unique"),
    (edit(*RESIZE, "name", to=3), r"operators\[1\].name: must be a string"),
    (edit(*RESIZE, "location", to=3), r"operators\[1\].location: must be a string"),
    (without(*RESIZE, "inputs"), r"operators\[1\]: fn.resize at .*inputs must be passed \(got 0\)"),
    (
        edit(*RESIZE, "inputs", to=[[1, 0]]),
        r"operators\[1\].inputs\[0\]: must refer to an operator",
    ),
    (
        edit(*RESIZE, "inputs", to=[[-1, 0]]),
        r"operators\[1\].inputs\[0\]: must refer to an operator",
    ),
    (edit(*RESIZE, "inputs", to=[[0, 1]]), r"operators\[1\].inputs\[0\]: must refer to one of"),
    (edit(*RESIZE, "inputs", to=[[0, True]]), r"must be \[operator, output\]"),
    (edit(*RESIZE, "inputs", to=["data"]), r"must be \[operator, output\]"),
    (edit(*SIZE, to="big"), r"operators\[1\]: fn.resize at .*'size', entry 0 must be float|'size'"),
    (edit(*RESIZE, "arguments", "syze", to=1), r"operators\[1\]: .*Did you mean 'size'"),
    (edit(*RESIZE, "arguments", to=[]), r"operators\[1\].arguments: must be an object"),
    (edit(*RESIZE, "arguments", "device", to="npu"), r"operators\[1\]: .*device must be"),
    (edit(*SIZE, to={"call": "os.system"}), r"arguments.size must be .*one of the keys"),
    (edit(*SIZE, to={"enum": "DALIDataType.__class__"}), "must be a valid enum"),
    (edit(*SIZE, to={"enum": 3}), "must be a valid enum"),
    (edit(*SIZE, to={"float": "1.5"}), "must be a valid float"),
    (edit(*SIZE, to={"bytes": "\u00e9"}), "must be a valid bytes"),
    (edit(*SIZE, to={"array": {**ARRAY, "shape": [3]}}), "must be a valid array"),
    (edit(*SIZE, to={"array": {**ARRAY, "shape": [-2, -1]}}), "must be a valid array"),
    (edit(*SIZE, to={"array": {**ARRAY, "dtype": "object"}}), "must be a valid array"),
    (edit(*SIZE, to={"array": {**ARRAY, "data": "AAA"}}), "must be a valid array"),
    (edit(*SIZE, to={"array": [1, 2]}), "must be a valid array"),
    (edit("operators", 2, "random_index", to=-1), r"operators\[2\].random_index: must be an int"),
    (without("operators", 2, "random_index"), r"operators\[2\].random_index: must be an int"),
    (edit("operators", 3, "arguments", to={"angle": 1.0}), "must be given once"),
    (edit("operators", 6, "inputs", to=[[4, 0]]), r"operators\[6\].inputs: the last must be"),
    (edit("operators", 9, "inputs", to=[[3, 0], [7, 0]]), r"operators\[9\]: .*1 inputs must be"),
    (edit("operators", 8, "inputs", to=[[3, 0], [4, 0]]), r"operators\[8\].inputs: the last must"),
    (
        edit("operators", 0, "arguments", "num_outputs", to=10**12),
        r"'num_outputs' must be from 0 to 4096",
    ),
    (edit("outputs", to=[]), "outputs: there must be at least one"),
    (edit("outputs", to=[[99, 0]]), r"outputs\[0\]: must refer to an operator"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[text for _, text in CHANGES])
def test_damage_is_named(change: Callable[[dict[str, Any]], None], message: str) -> None:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    with pytest.raises(SerializationError, match=rf"\APipeline.deserialize: .*{message}"):
        read(document)


COPY = ("operators", 3)
OF_BRANCHES: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (edit(*COPY, "conditions", to=3), r"operators\[3\].conditions: must be a list"),
    (edit(*COPY, "conditions", to=[3]), r"operators\[3\].conditions\[0\]: must be a list"),
    (
        edit(*COPY, "conditions", to=[[]]),
        r"operators\[3\].conditions\[0\]: must be \[operator, out",
    ),
    (edit(*COPY, "conditions", to=[[2, 0, 1]]), r"conditions\[0\]: must be \[operator, output, tr"),
    (
        edit(*COPY, "conditions", to=[[9, 0, True]]),
        r"conditions\[0\]: must refer to an operator bef",
    ),
    (edit("outputs", to=[[3, 0]]), "output 0 must exist for all samples"),
    (edit("operators", 4, "operator", to="cat"), r"operators\[4\]: fn.cat at .*must exist for all"),
]


@pytest.mark.parametrize(("change", "message"), OF_BRANCHES, ids=[text for _, text in OF_BRANCHES])
def test_damaged_branches_are_named(change: Callable[[dict[str, Any]], None], message: str) -> None:
    assert [entry["operator"] for entry in BRANCHES["operators"]][3:] == [
        "copy",
        "conditional.merge",
    ]
    document = copy.deepcopy(BRANCHES)
    change(document)
    with pytest.raises(SerializationError, match=rf"\APipeline.deserialize: .*{message}"):
        read(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "must be JSON"),
        (b"\x80\x04\x95", "must be JSON"),
        ("[" * 100_000, "must be JSON"),
        ("[1]", "must be an object"),
        ('{"format": 1, "format": 2}', "a key twice"),
        ('{"format": NaN}', "NaN is no JSON"),
        ("9" * 10_000, "must be JSON"),
        (json.dumps(DOCUMENT)[:-30], "must be JSON"),
    ],
)
def test_other_texts_as_documents_raise(text: bytes | str, message: str) -> None:
    with pytest.raises(SerializationError, match=message):
        Pipeline.deserialize(text)


def test_deep_nesting() -> None:
    document = copy.deepcopy(DOCUMENT)
    document["operators"][1]["arguments"]["size"] = "here"
    text = json.dumps(document).replace('"here"', "[" * 900 + "]" * 900)
    with pytest.raises(SerializationError, match="Pipeline.deserialize"):
        Pipeline.deserialize(text)


def test_truncated_at_every_byte() -> None:
    text = json.dumps(DOCUMENT)
    for length in range(len(text) - 1):
        with pytest.raises(SerializationError):
            Pipeline.deserialize(text[:length])


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "data", "resize", "HWC", "gpu", "\0", "\ud800"])
    | st.text(max_size=5)
    | st.just({"enum": "DALIDataType.FLOAT"})
    | st.just({"array": ARRAY}),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["enum", "float", "array", "bytes", "dict", "value", "size", "name"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return all positions in a document."""
    steps = value.items() if isinstance(value, dict) else ()
    steps = enumerate(value) if isinstance(value, list) else steps
    return [path, *(place for key, inner in steps for place in places(inner, (*path, key)))]


PLACES = places(DOCUMENT)[1:]


def message_of(text: str) -> str:
    """Read a document without building the pipeline; return the message if it is rejected."""
    try:
        document = Document(text, document_arguments(Pipeline))
        pipeline = Pipeline(**document.options)
        document.fill(pipeline._definition, Access.LOCAL)
    except SerializationError as error:
        return str(error)
    return ""


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(PLACES), PLAIN), min_size=1, max_size=3))
def test_any_damage_raises_or_is_harmless(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    document = copy.deepcopy(DOCUMENT)
    for path, value in changes:
        try:
            edit(*path, to=value)(document)
        except (IndexError, KeyError, TypeError):
            continue  # an earlier change has removed the position
    message = message_of(json.dumps(document))
    assert message.startswith("Pipeline.deserialize: ") or not message


def _with_objects() -> list[tuple[str, str]]:
    """List the arguments that no document can hold: functions, data sets and the like."""
    plain = (int, float, bool, str)
    return [
        (name, arg.name)
        for name, spec in sorted(specs_by_identity().items(), key=lambda entry: entry[0])
        for arg in spec.args
        if arg.item_type is object
        or not (arg.item_type in plain or issubclass(arg.item_type, enum.Enum))
    ]


@pytest.mark.parametrize(("operator", "argument"), _with_objects())
def test_numbers_and_texts_are_no_objects(operator: str, argument: str) -> None:
    for value in (4096, "dali_core", [1, 2]):
        document = copy.deepcopy(DOCUMENT)
        entry = {"operator": operator, "name": "one", "arguments": {argument: value}}
        document["operators"].append(entry)
        document["outputs"] = [[len(document["operators"]) - 1, 0]]
        with pytest.raises((DaliCoreError, TypeError, ValueError)):
            read(document).run()
