"""Names that only one of the libraries has: of operators, of plugins, and all that only this has.

What other modules lack is in `test_public_names`. Every entry of the tables has its reason, and one
that is no longer true fails the tests.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dali_core._graph.namespaces import class_name
from dali_core.compat._places import ADDED
from tests.conformance.test_public_names import (
    INTERNAL,
    MODULES,
    SUBJECTS,
    _each,
    find,
    has,
    public_names,
)

pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("torch", reason="not available: PyTorch")

ON_GPUS_ONLY = "runs on a GPU only, and is not here"
ONLY_HERE = "is only here: "
REGISTRY = "registers native classes, which here are found by themselves"

OPERATORS_LEFT_OUT = _each(
    ON_GPUS_ONLY,
    "decoders.inflate experimental.dilate experimental.erode experimental.inflate "
    "experimental.median_blur experimental.remap experimental.resize optical_flow",
)
OPERATORS_ONLY_HERE = {
    **_each(
        f"{ONLY_HERE}data of Parquet files and of Python objects", "readers.parquet readers.python"
    ),
    **_each(f"{ONLY_HERE}texts", "readers.jsonl readers.text tokenize"),
    **_each(
        f"{ONLY_HERE}formats of tensors, volumes and shards",
        "readers.dicom readers.hdf5 readers.lance readers.mds readers.nifti readers.safetensors "
        "readers.token_file readers.zarr",
    ),
    **_each(f"{ONLY_HERE}data sets of robots", "readers.lerobot"),
    **_each(f"{ONLY_HERE}patches of labelled volumes", "random_patch"),
    **_each(f"{ONLY_HERE}soft labels of mixed images", "cutmix mixup"),
    **_each(f"{ONLY_HERE}sequences of many lengths", "batch_extents collate pack pad_batch unpack"),
    **_each(f"{ONLY_HERE}sizes of images for language models", "image_tokens"),
}
# Of `ops`, besides the classes of operators.
LEFT_OUT_OF_OPS = {
    **_each(REGISTRY, "cpu_ops gpu_ops mixed_ops register_cpu_op register_gpu_op Reload"),
    **_each(INTERNAL, "python_op_factory"),
}

_ITERATOR = {
    **_each(f"{ONLY_HERE}states", "load_state_dict state_dict restart seek epochs"),
    **_each(f"{ONLY_HERE}epochs", "epoch num_returned set_epoch skip step"),
    **_each(f"{ONLY_HERE}statistics", "describe headroom"),
}
_DEVICE = {"synchronize": f"{ONLY_HERE}waits for the stream"}

ONLY_HERE_NAMES: dict[str, dict[str, str]] = {
    "dali": {
        "DataNode": "is in data_node there",
        "get_include": "is in sysconfig there under another name",
        **_each(f"{ONLY_HERE}modules, mixtures, parameters, traces", "errors samplers trace"),
        **_each(f"{ONLY_HERE}mixtures and parameters", "mix_readers parameter"),
        **_each(
            f"{ONLY_HERE}loaders",
            "Loader audio_folder csv_folder image_folder segmentation_folder video_folder",
        ),
    },
    "Pipeline": {
        **_each(f"{ONLY_HERE}states", "load_state_dict state_dict states restart"),
        **_each(
            f"{ONLY_HERE}inspection",
            "bad_samples monitor plan report reset_statistics run_sample save_graph_to_svg_file "
            "show statistics",
        ),
        **_each(
            f"{ONLY_HERE}control",
            "batching close from_pipeline input_names schedule_batch set_parameter",
        ),
        "output_layout": "is a variable of the object there",
    },
    "DataNode": {
        **_each("is a variable of the object there", "device dtype layout name ndim"),
        **_each(f"{ONLY_HERE}operator, output and graph", "source owner"),
    },
    "TensorGPU": _DEVICE,
    "TensorListGPU": _DEVICE,
    "types": _each("is in the top module there", "OperatorConcurrency StreamPolicy"),
    "auto_aug.core.policy": _each(f"{ONLY_HERE}types of annotations", "Step SubPolicy"),
    "auto_aug.core._Augmentation": {"keywords": f"{ONLY_HERE}arguments that it takes"},
    **dict.fromkeys(
        ("plugin.pytorch.DALIGenericIterator", "plugin.pytorch.DALIClassificationIterator"),
        _ITERATOR,
    ),
    "plugin.pytorch.DALIRaggedIterator": {
        **_ITERATOR,
        **_each(f"{ONLY_HERE}forms of ragged batches", "FLAT_TAG JAGGED_TAG"),
    },
    "plugin.pytorch.experimental.proxy.DALIServer": _each(INTERNAL, "data schedule"),
    "pickling": {"Function": "is a type of annotations"},
    "pipeline": _each(f"{ONLY_HERE}mixtures and parameters", "is_definition mix_readers parameter"),
    "sysconfig": {"get_include": "is get_include_dir there"},
    "plugin.pytorch.fn": {"TorchPythonFunction": "is in the module above there"},
}

# Plugins are compared by their sources: their frameworks need not be installed.
PLUGINS = (
    *("base_iterator", "jax", "jax.clu", "jax.fn", "jax.iterator", "numba"),
    *("numba.experimental", "numba.fn"),
    *("numba.fn.experimental", "paddle", "pytorch", "pytorch.fn", "pytorch.experimental"),
    *("pytorch.experimental.proxy", "pytorch.loader_evaluator", "pytorch.torch_utils"),
    *("pytorch.loader_evaluator.loader", "tf", "triton"),
)
PLUGIN_MODULES_LEFT_OUT = {"jax.integration": INTERNAL}
PLUGINS_LEFT_OUT: dict[str, dict[str, str]] = {
    "jax.clu": {"get_spec_for_array": INTERNAL},
    "jax.iterator": {"default_num_threads_value": INTERNAL},
    "numba": _each(INTERNAL, "address_as_void_pointer minimal_numba_version"),
    "paddle": {
        **_each(INTERNAL, "dtype_map to_paddle_type"),
        **_each("is about ragged tensors of fluid", "lod_tensor_clip recursive_length"),
    },
    "pytorch.experimental.proxy": _each(
        INTERNAL, "DALIOutputBatchRef DALIOutputSampleRef DALIPipelineRunRef"
    ),
    "tf": {
        **_each(
            "is an operator of TensorFlow in C++, for graphs of version 1; DALIDataset does it",
            "DALIIterator DALIIteratorWrapper DALIRawIterator serialize_pipeline",
        ),
        **_each(INTERNAL, "MIN_TENSORFLOW_VERSION dataset_options"),
    },
}
PLUGINS_ONLY_HERE: dict[str, dict[str, str]] = {
    "jax": {"LastBatchPolicy": "is imported from base_iterator there"},
    "jax.clu": {"PeekableDALIGenericIterator": "is an older name there"},
    "pytorch.experimental.proxy": {"DALIProxy": "has an underscore there"},
    "tf": {"experimental": "is made when the module runs there"},
    # Their sources do not name what these modules are filled with there.
    "pytorch.fn": _each("is there, too", "TorchPythonFunction torch_python_function"),
}


def names_of_operators(module: ModuleType) -> Iterator[str]:
    """Return the paths below `fn` or `ops`, except those of hidden groups and other packages."""
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            is_below = value.__name__ == f"{module.__name__}.{name}"
            if is_below and name != "hidden" and not name.startswith("_"):
                yield from (f"{name}.{inner}" for inner in names_of_operators(value))
        elif callable(value) and not name.startswith("_") and name != "count":
            yield name


def class_path(name: str) -> str:
    group, _, _ = name.rpartition(".")
    return f"{group}.{class_name(name)}" if group else class_name(name)


@pytest.mark.parametrize("module", ["fn", "ops"])
def test_names_of_operators(module: str) -> None:
    theirs, ours = (
        set(names_of_operators(importlib.import_module(f"{library}.{module}")))
        for library in ("nvidia.dali", "dali_core")
    )
    path_of = class_path if module == "ops" else str
    others = set(LEFT_OUT_OF_OPS) if module == "ops" else set()
    assert len(ours & theirs) > 150
    assert theirs - ours == {path_of(name) for name in OPERATORS_LEFT_OUT} | others
    assert ours - theirs == {path_of(name) for name in OPERATORS_ONLY_HERE}


def own_names(subject: Any) -> set[str]:
    """Return what one of our modules defines or exports, or the names of a class without syntax."""
    if isinstance(subject, ModuleType):
        return exported(Path(str(subject.__file__)))
    return {name for name in public_names(subject) - set(dir(str)) if not name.startswith("_")}


def exported(source: Path) -> set[str]:
    """Return the public names that a module defines, and those that it imports to export them."""
    return {name for name in bound(source, is_export) if not name.startswith("_")}


def is_export(statement: ast.ImportFrom, alias: ast.alias) -> bool:
    # The reference's packages export what is in their own modules.
    return alias.asname == alias.name or statement.level > 0


def bound(
    source: Path, counts: Callable[[ast.ImportFrom, ast.alias], bool] = lambda *_: True
) -> Iterator[str]:
    """Return the names at the top of a module; imported ones if they count."""
    statements = [*ast.parse(source.read_text("utf-8")).body]
    for statement in statements:
        if isinstance(statement, (ast.Try, ast.If)):
            statements += statement.body
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield statement.name
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if counts(statement, alias):
                    yield alias.asname or alias.name
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_names_of_this_library_are_known() -> None:
    subjects = {**SUBJECTS, **MODULES}
    found = {
        name: {own for own in own_names(find(ours)) if not has(find(theirs), own)}
        for name, (theirs, ours) in subjects.items()
    }
    assert {name: names for name, names in found.items() if names} == {
        name: set(reasons) for name, reasons in ONLY_HERE_NAMES.items()
    }


@pytest.mark.parametrize("name", PLUGINS)
def test_names_of_plugins(name: str) -> None:
    theirs, ours = (
        source_of(f"{library}.plugin.{name}") for library in ("nvidia.dali", "dali_core")
    )
    added = set(ADDED.get(f"dali_core.plugin.{name}", ()))
    assert exported(theirs) - set(bound(ours)) - added == set(PLUGINS_LEFT_OUT.get(name, {}))
    assert exported(ours) - set(bound(theirs)) == set(PLUGINS_ONLY_HERE.get(name, {}))


def source_of(module: str) -> Path:
    """Return a module's file, without importing the frameworks that it is for."""
    library, _, below = module.partition(".plugin.")
    folder = Path(str(importlib.import_module(library).__file__)).parent / "plugin"
    path = folder.joinpath(*below.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def test_every_plugin_is_compared() -> None:
    folder = Path(str(importlib.import_module("nvidia.dali").__file__)).parent / "plugin"
    paths = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py"))
    names = {".".join(path.parts).removesuffix(".__init__") for path in paths}
    public = {name for name in names if "_" not in (part[0] for part in name.split("."))}
    assert public - set(PLUGINS) == set(PLUGIN_MODULES_LEFT_OUT)


def test_every_entry_has_a_reason() -> None:
    tables = (OPERATORS_LEFT_OUT, OPERATORS_ONLY_HERE, LEFT_OUT_OF_OPS, PLUGIN_MODULES_LEFT_OUT)
    nested = (ONLY_HERE_NAMES, PLUGINS_LEFT_OUT, PLUGINS_ONLY_HERE)
    inner = (reasons for table in nested for reasons in table.values())
    assert all(reason for table in (*tables, *inner) for reason in table.values())
    assert set(ONLY_HERE_NAMES) <= {*SUBJECTS, *MODULES}
    assert {*PLUGINS_LEFT_OUT, *PLUGINS_ONLY_HERE} <= set(PLUGINS)
