"""Snippets that fail, given the library and an empty folder."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core.errors import ArgumentValueError
from dali_core.testing.examples import list_of

torch = pytest.importorskip("torch", reason="not available: PyTorch")

IMAGE = np.zeros((4, 4, 3), np.uint8)


class OwnError(Exception):
    """An exception of the program; its constructor has arguments that pickle does not pass."""

    def __init__(self, code: int, *, cure: str = "") -> None:
        super().__init__(f"code {code}")
        self.code = code


def source(lib: Any, value: Any = IMAGE, **arguments: Any) -> Any:
    return lib.fn.external_source(lambda: [value] * 2, **arguments)


def inside(lib: Any, define: Callable[[Any], Any]) -> Any:
    with lib.Pipeline(2, 1, None):
        return define(lib)


def made(lib: Any, define: Callable[[Any], Any], size: int = 2, **arguments: Any) -> Any:
    pipeline = lib.Pipeline(size, 1, None, **arguments)
    with pipeline:
        outputs = define(lib)
        pipeline.set_outputs(*list_of(outputs))
    return pipeline


def built(lib: Any, define: Callable[[Any], Any], **arguments: Any) -> Any:
    pipeline = made(lib, define, **arguments)
    pipeline.build()
    return pipeline


def run(lib: Any, define: Callable[[Any], Any], **arguments: Any) -> Any:
    return made(lib, define, **arguments).run()


def from_source(lib: Any, function: Callable[..., Any], **arguments: Any) -> Any:
    return run(lib, lambda lib: lib.fn.external_source(function), **arguments)


def called(lib: Any, function: Callable[..., Any], **arguments: Any) -> Any:
    return run(lib, lambda lib: lib.fn.python_function(source(lib), function=function, **arguments))


def failing(error: Exception) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


def fed(lib: Any, data: Any, name: Any = "x", **arguments: Any) -> Any:
    pipeline = built(lib, lambda lib: lib.fn.external_source(name="x", **arguments))
    pipeline.feed_input(name, data)
    pipeline.feed_input(name, data)
    return pipeline.run()


def node(lib: Any) -> Any:
    return inside(lib, source)


def files(lib: Any, folder: Path, size: int = 2, count: int = 2) -> Any:
    names = [str(folder / f"{number}") for number in range(count)]
    for name in names:
        Path(name).write_bytes(b"content")
    return made(lib, lambda lib: lib.fn.readers.file(files=names, name="r"), size=size)


def iterator(lib: Any, pipelines: Any, names: Any = ("data", "label"), **arguments: Any) -> Any:
    plugin = importlib.import_module(f"{lib.__name__}.plugin.pytorch")
    return plugin.DALIGenericIterator(pipelines, names and list(names), **arguments)


def feed_ndarray(lib: Any, target: Any) -> Any:
    plugin = importlib.import_module(f"{lib.__name__}.plugin.pytorch")
    return plugin.feed_ndarray(lib.tensors.TensorCPU(np.zeros((2, 3), np.float32)), target)


def reads(lib: Any, **arguments: Any) -> Any:
    return built(lib, lambda lib: lib.fn.readers.file(**arguments))


def applied(name: str, value: Any = IMAGE, layout: str = "HWC", **arguments: Any) -> Any:
    """Return a snippet that runs an operator on one input."""

    def snippet(lib: Any, _: Path) -> Any:
        def define(lib: Any) -> Any:
            operator: Any = lib.fn
            for part in name.split("."):
                operator = getattr(operator, part)
            return operator(source(lib, value, layout=layout), **arguments)

        return run(lib, define)

    return snippet


Snippet = Callable[[Any, Path], Any]
DEFINING: dict[str, Snippet] = {
    "unknown argument": lambda lib, _: inside(lib, lambda lib: lib.fn.flip(source(lib), x=1)),
    "of a class": lambda lib, _: lib.ops.Flip(x=1),
    "of its call": lambda lib, _: inside(lib, lambda lib: lib.ops.Flip()(source(lib), x=1)),
    "of a reader": lambda lib, _: inside(lib, lambda lib: lib.fn.readers.file(file_rot="x")),
    "of a function": lambda lib, _: called(lib, abs, foo=1),
    "of a pipeline": lambda lib, _: lib.Pipeline(1, 1, None, foo=1),
    "of pipeline_def": lambda lib, _: lib.pipeline_def(foo=1)(lambda: source(lib))(),
    "missing argument": applied("cast"),
    "text for a number": applied("flip", horizontal="yes"),
    "list for a number": applied("flip", horizontal=[1, 2]),
    "object for a number": applied("rotate", angle=object()),
    "text for a type": applied("cast", dtype="banana"),
    "node for a constant": lambda lib, _: inside(
        lib, lambda lib: lib.fn.readers.file(file_root=source(lib))
    ),
    "no input": lambda lib, _: inside(lib, lambda lib: lib.fn.flip()),
    "two inputs": lambda lib, _: inside(lib, lambda lib: lib.fn.flip(source(lib), source(lib))),
    "argument by position": lambda lib, _: inside(lib, lambda lib: lib.fn.rotate(source(lib), 3.0)),
    "None as input": lambda lib, _: inside(lib, lambda lib: lib.fn.flip(None)),
    "text as input": lambda lib, _: inside(lib, lambda lib: lib.fn.flip("image")),
    "unknown device": applied("flip", device="tpu"),
    "unknown operator": lambda lib, _: lib.fn.no_such_operator,
    "unknown class": lambda lib, _: lib.ops.NoSuch,
    "unknown type": lambda lib, _: lib.types.NO_SUCH,
    "unknown module": lambda lib, _: importlib.import_module(f"{lib.__name__}.no_such"),
    "type by name": lambda lib, _: lib.types.DALIDataType("UINT8"),
    "to_dali_type": lambda lib, _: lib.types.to_dali_type("no such"),
    "to_numpy_type": lambda lib, _: lib.types.to_numpy_type(lib.types.IMAGE_TYPE),
    "text as constant": lambda lib, _: lib.types.Constant("x"),
    "if": lambda lib, _: 1 if node(lib) else 2,
    "not": lambda lib, _: not node(lib),
    "and": lambda lib, _: node(lib) and 1,
    "for": lambda lib, _: max(value for value in node(lib)),
    "unpacked": lambda lib, _: max(*node(lib)),
    "in": lambda lib, _: 3 in node(lib),
    "len": lambda lib, _: len(node(lib)),
    "int": lambda lib, _: int(node(lib)),
    "as an index": lambda lib, _: [1, 2][node(lib)],
    "attribute": lambda lib, _: node(lib).no_such,
    "plus text": lambda lib, _: inside(lib, lambda lib: source(lib) + "x"),
    "plus None": lambda lib, _: inside(lib, lambda lib: source(lib) + None),
    "matrix product": lambda lib, _: inside(lib, lambda lib: source(lib) @ source(lib)),
    "index by text": lambda lib, _: inside(lib, lambda lib: source(lib)["a"]),
    "index by fraction": lambda lib, _: inside(lib, lambda lib: source(lib)[1.5]),
    "sine of text": lambda lib, _: inside(lib, lambda lib: lib.math.sin("x")),
    "text as output": lambda lib, _: run(lib, lambda lib: (source(lib), "x")),
    "nested output": lambda lib, _: run(lib, lambda lib: (source(lib), [source(lib)])),
    "a name twice": lambda lib, _: built(lib, lambda lib: [source(lib, name="a") for _ in "ab"]),
    "own error": lambda lib, _: lib.pipeline_def(batch_size=1)(failing(OwnError(1)))(),
}
RUNNING: dict[str, Snippet] = {
    "no outputs": lambda lib, _: lib.Pipeline(2, 1, None).build(),
    "batch size of 0": lambda lib, _: built(lib, source, size=0),
    "prefetch of 0": lambda lib, _: built(lib, source, prefetch_queue_depth=0),
    "prefetch without a key": lambda lib, _: built(
        lib, source, prefetch_queue_depth={"cpu_size": 1}
    ),
    "other output_dtype": lambda lib, _: run(lib, source, output_dtype=lib.types.FLOAT),
    "other output_ndim": lambda lib, _: run(lib, source, output_ndim=1),
    "text as output_dtype": lambda lib, _: run(lib, source, output_dtype="float"),
    "outputs of nothing": lambda lib, _: built(lib, source).outputs(),
    "reader_meta": lambda lib, _: built(lib, source).reader_meta("no such"),
    "deserialize": lambda lib, _: lib.Pipeline.deserialize(b"no document"),
    "deserialize a file": lambda lib, tmp: lib.Pipeline.deserialize(filename=str(tmp / "none")),
    "deserialize nothing": lambda lib, _: lib.Pipeline.deserialize(),
    "checkpoint": lambda lib, _: built(lib, source, enable_checkpointing=True, checkpoint="x"),
    "feed another input": lambda lib, _: fed(lib, [IMAGE] * 2, name="y"),
    "feed a number": lambda lib, _: fed(lib, [IMAGE] * 2, name=3),
    "feed None": lambda lib, _: fed(lib, None),
    "feed text": lambda lib, _: fed(lib, ["a", "b"]),
    "feed too many": lambda lib, _: fed(lib, [IMAGE] * 5),
    "feed mixed types": lambda lib, _: fed(lib, [np.zeros(1), np.zeros(1, np.int8)]),
    "feed mixed dimensions": lambda lib, _: fed(lib, [np.zeros(1), np.zeros((1, 1))]),
    "feed another type": lambda lib, _: fed(lib, [np.zeros(1)] * 2, dtype=lib.types.UINT8),
    "feed other dimensions": lambda lib, _: fed(lib, [np.zeros(1)] * 2, ndim=3),
    "feed a source": lambda lib, _: built(lib, lambda lib: source(lib, name="x")).feed_input(
        "x", [IMAGE] * 2
    ),
    "not fed": lambda lib, _: run(lib, lambda lib: lib.fn.external_source(name="x")),
    "source of None": lambda lib, _: from_source(lib, lambda: None),
    "source of objects": lambda lib, _: from_source(lib, lambda: [object()] * 2),
    "source of too many": lambda lib, _: from_source(lib, lambda: [IMAGE] * 5),
    "source of another type": lambda lib, _: run(
        lib, lambda lib: source(lib, dtype=lib.types.FLOAT)
    ),
    "source without end": lambda lib, _: from_source(lib, failing(StopIteration())),
    "function without result": lambda lib, _: called(lib, lambda x: None),
    "function of text": lambda lib, _: called(lib, lambda x: "a"),
    "function of nothing": lambda lib, _: called(lib, lambda: 1),
    "function of one result": lambda lib, _: run(
        lib, lambda lib: lib.fn.python_function(source(lib), function=abs, num_outputs=2)
    ),
    "function that fails": lambda lib, _: called(lib, lambda x: x.no_such),
    "no such folder": lambda lib, tmp: reads(lib, file_root=str(tmp / "none")),
    "empty folder": lambda lib, tmp: reads(lib, file_root=str(tmp)),
    "no such list": lambda lib, tmp: reads(lib, file_list=str(tmp / "none")),
    "no such file": lambda lib, tmp: reads(lib, files=[str(tmp / "none")]).run(),
    "no files": lambda lib, _: reads(lib, files=[]),
    "no reader's source": lambda lib, _: reads(lib),
    "two reader's sources": lambda lib, _: reads(lib, files=["a"], file_list="b"),
    "no such shard": lambda lib, _: reads(lib, files=["a"], shard_id=3, num_shards=2),
    "no image": applied("decoders.image", np.frombuffer(b"no image", np.uint8), ""),
    "pixels to decode": applied("decoders.image"),
    "crop too large": applied("crop", crop=(90, 90)),
    "bad shape": applied("reshape", shape=[5, 5]),
    "bad permutation": applied("transpose", perm=[0, 0, 1]),
    "bad axes": applied("expand_dims", axes=[9]),
    "axis out of range": applied("reductions.sum", axes=[9]),
    "division by zero": lambda lib, _: run(lib, lambda lib: source(lib) // 0),
    "layout of crop": applied("crop", layout="XYZ", crop=(2, 2)),
    "layout of crop_mirror_normalize": applied("crop_mirror_normalize", layout="XYZ", crop=(2, 2)),
    "layout of paste": applied("paste", layout="CHW", ratio=2.0, fill_value=(0,)),
    "layout of debayer": applied("debayer", layout="HWC", blue_position=(0, 0)),
    "sum of booleans": lambda lib, _: run(
        lib, lambda lib: source(lib, np.zeros(2, np.bool_)) + source(lib, np.zeros(2, np.bool_))
    ),
    "negative of booleans": lambda lib, _: run(
        lib, lambda lib: -source(lib, np.zeros(2, np.bool_))
    ),
    "unknown axis": applied("reductions.sum", axis_names="Q"),
    "resize without a size": applied("resize"),
    "unknown mode": applied("resize", size=3, mode="no such"),
    "even window": applied("gaussian_blur", window_size=4),
    "short matrix": applied("warp_affine", matrix=[1.0, 2.0]),
    "empty range": lambda lib, _: run(lib, lambda lib: lib.fn.random.uniform(range=[1.0, -1.0])),
    "shapes that differ": lambda lib, _: run(
        lib, lambda lib: lib.fn.cat(source(lib), source(lib, IMAGE[:2, :2]))
    ),
    "index out of range": lambda lib, _: run(lib, lambda lib: source(lib)[9]),
    "batch index": lambda lib, _: run(lib, source)[0][9],
    "uneven as_array": lambda lib, _: from_source(lib, lambda: [np.zeros(1), np.zeros(2)])[
        0
    ].as_array(),
    "uneven as_tensor": lambda lib, _: from_source(lib, lambda: [np.zeros(1), np.zeros(2)])[
        0
    ].as_tensor(),
    "tensor of None": lambda lib, _: lib.tensors.TensorCPU(None),
    "tensor with a long layout": lambda lib, _: lib.tensors.TensorCPU(np.zeros(4), "HWC"),
}
ITERATING: dict[str, Snippet] = {
    "no pipelines": lambda lib, _: iterator(lib, None),
    "output named twice": lambda lib, tmp: iterator(lib, files(lib, tmp), "aa", reader_name="r"),
    "no names": lambda lib, tmp: iterator(lib, files(lib, tmp), None, reader_name="r"),
    "size of 0": lambda lib, tmp: iterator(lib, files(lib, tmp), size=0),
    "size and reader": lambda lib, tmp: iterator(lib, files(lib, tmp), size=4, reader_name="r"),
    "unknown reader": lambda lib, tmp: iterator(lib, files(lib, tmp), reader_name="q"),
    "unknown argument": lambda lib, tmp: iterator(lib, files(lib, tmp), reader_name="r", foo=1),
    "unknown policy": lambda lib, tmp: iterator(
        lib, files(lib, tmp), reader_name="r", last_batch_policy="SOME"
    ),
    "unknown auto_reset": lambda lib, tmp: iterator(
        lib, files(lib, tmp), reader_name="r", auto_reset="maybe"
    ),
    "batch sizes that differ": lambda lib, tmp: iterator(
        lib, [files(lib, tmp), files(lib, tmp, size=1)], reader_name="r"
    ),
    "sizes that differ": lambda lib, tmp: iterator(
        lib, [files(lib, tmp), files(lib, tmp, count=3)], reader_name="r"
    ),
    "uneven samples": lambda lib, _: next(
        iterator(
            lib,
            made(lib, lambda lib: lib.fn.external_source(lambda: [np.zeros(1), np.zeros(2)])),
            ["data"],
        )
    ),
    "end": lambda lib, tmp: [
        next(batches) for batches in [iterator(lib, files(lib, tmp), reader_name="r")] * 3
    ],
    "own error": lambda lib, _: next(
        iterator(lib, made(lib, lambda lib: lib.fn.external_source(failing(OwnError(1)))), ["data"])
    ),
    "feed_ndarray of a shape": lambda lib, _: feed_ndarray(lib, torch.zeros(2, 4)),
    "feed_ndarray of a type": lambda lib, _: feed_ndarray(lib, torch.zeros(2, 3).int()),
}

# Exceptions of the reference for unrelated reasons, and the more specific class here.
OTHERWISE: dict[str, tuple[Snippet, type[Exception], type[Exception]]] = {
    "two ellipses": (
        lambda lib, _: inside(lib, lambda lib: source(lib)[..., ...]),
        NotImplementedError,
        ArgumentValueError,
    ),
    "unknown keyword of a definition": (
        lambda lib, _: lib.pipeline_def(batch_size=1)(lambda: source(lib))(foo=1),
        AssertionError,
        TypeError,
    ),
    "no folder for a drawing": (
        lambda lib, tmp: built(lib, source).save_graph_to_dot_file(str(tmp / "a" / "b")),
        RuntimeError,
        FileNotFoundError,
    ),
    "outputs without names": (
        lambda lib, tmp: iterator(lib, files(lib, tmp), ["data"], reader_name="r"),
        IndexError,
        ArgumentValueError,
    ),
    "names without outputs": (
        lambda lib, tmp: iterator(lib, files(lib, tmp), "abc", reader_name="r"),
        KeyError,
        ArgumentValueError,
    ),
}
