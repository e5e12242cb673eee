"""Every public name of NVIDIA DALI's Python API, and every parameter, exists here or is listed.

The tables below list what is missing, and why. An entry that is no longer missing fails the tests,
too, so that the tables stay up to date. Operators are compared in `docs/conformance.md`.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dali_core.compat._places import ELSEWHERE

pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("torch", reason="not available: PyTorch")

# Classes and modules that are compared: where they are in the reference, and here.
SUBJECTS = {
    "dali": ("nvidia.dali", "dali_core"),
    "Pipeline": ("nvidia.dali:Pipeline", "dali_core:Pipeline"),
    "DataNode": ("nvidia.dali.data_node:DataNode", "dali_core:DataNode"),
    "TensorCPU": ("nvidia.dali.tensors:TensorCPU", "dali_core.tensors:TensorCPU"),
    "TensorListCPU": ("nvidia.dali.tensors:TensorListCPU", "dali_core.tensors:TensorListCPU"),
    "TensorGPU": ("nvidia.dali.tensors:TensorGPU", "dali_core.tensors:TensorGPU"),
    "TensorListGPU": ("nvidia.dali.tensors:TensorListGPU", "dali_core.tensors:TensorListGPU"),
    "tensors": ("nvidia.dali.tensors", "dali_core.tensors"),
    "types": ("nvidia.dali.types", "dali_core.types"),
    **{
        f"types.{name}": (f"nvidia.dali.types:{name}", f"dali_core.types:{name}")
        for name in (
            *("DALIDataType", "DALIInterpType", "DALIImageType", "PipelineAPIType"),
            *("SampleInfo", "BatchInfo", "TensorLayout", "ScalarConstant"),
        )
    },
    "StreamPolicy": ("nvidia.dali:StreamPolicy", "dali_core:StreamPolicy"),
    "OperatorConcurrency": ("nvidia.dali:OperatorConcurrency", "dali_core:OperatorConcurrency"),
    "math": ("nvidia.dali.math", "dali_core.math"),
    **{
        f"auto_aug.{name}": (f"nvidia.dali.auto_aug.{name}", f"dali_core.auto_aug.{name}")
        for name in (
            *("augmentations", "auto_augment", "rand_augment", "trivial_augment"),
            *("core", "core.decorator", "core.policy"),
        )
    },
    "auto_aug.core.Policy": (
        "nvidia.dali.auto_aug.core:Policy",
        "dali_core.auto_aug.core:Policy",
    ),
    "auto_aug.core._Augmentation": (
        "nvidia.dali.auto_aug.core:_Augmentation",
        "dali_core.auto_aug.core:_Augmentation",
    ),
    "plugin.base_iterator": ("nvidia.dali.plugin.base_iterator", "dali_core.plugin.base_iterator"),
    "plugin.pytorch": ("nvidia.dali.plugin.pytorch", "dali_core.plugin.pytorch"),
    **{
        f"plugin.pytorch.{name}": (
            f"nvidia.dali.plugin.pytorch:{name}",
            f"dali_core.plugin.pytorch:{name}",
        )
        for name in ("DALIGenericIterator", "DALIClassificationIterator", "DALIRaggedIterator")
    },
    **{
        f"plugin.pytorch.experimental.proxy.{name}": (
            f"nvidia.dali.plugin.pytorch.experimental.proxy:{name}",
            f"dali_core.plugin.pytorch.experimental.proxy:{name}",
        )
        for name in ("DALIServer", "DataLoader")
    },
}

# Modules that a program imports at its top; their functions have tests of their own.
MODULES = {
    name: (f"nvidia.dali.{name}", ELSEWHERE.get(name, f"dali_core.{name}"))
    for name in (
        *("backend", "backend_impl", "data_node", "external_source", "pickling", "pipeline"),
        *("pipeline.experimental", "plugin_manager", "reducers", "sysconfig"),
        *("plugin.pytorch.fn", "plugin.pytorch.torch_utils", "plugin.triton"),
    )
}

GPU = "comes with GPU support"
INTERNAL = "is not meant for users, though its name has no underscore"
NOT_YET = "not in this version: "


def _each(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


_BACKEND = {
    **_each(
        GPU,
        "CUDAStreamSynchronize GetCUDACurrentDevice GetCUDAStreamDevice SetCUDACurrentDevice "
        "GetCudaVersion GetCufftVersion GetNppVersion RestrictPinnedMemUsage IsDriverInitialized "
        "Stream check_cuda_runtime cuda_checked",
    ),
    **_each(
        INTERNAL,
        "ExternalContextCheckpoint GetSchema GetSchemaAndTarget Init LoadDefaultPlugins "
        "LoadDirectory LoadLibrary OpSchema OpSpec Pipeline PipelineDebug RegisteredCPUOps "
        "RegisteredGPUOps RegisteredMixedOps SharedMem TryGetSchema DLDeviceType GetCxx11AbiFlag "
        "GetNvimgcodecVersion GetOpenCVVersion deprecation_warning initialized",
    ),
}

# The first is there under the name of the extension module only, which nothing else has.
_OF_BACKEND_ONLY = {
    *("GetSchema", "check_cuda_runtime", "cuda_checked", "deprecation_warning", "initialized"),
}

# Names that are missing, by subject.
LEFT_OUT: dict[str, dict[str, str]] = {
    "tensors": _each(
        INTERNAL, "PipelineBatchAdapter PipelineTensorAdapter format_batch format_tensor"
    ),
    "types": {"dali_type_converters": INTERNAL},
    "plugin.pytorch": _each(INTERNAL, "Pipeline TensorCPU TensorGPU TensorListGPU"),
    "plugin.pytorch.torch_utils": _each(
        INTERNAL, "TensorCPU TensorGPU TensorListCPU TensorListGPU"
    ),
    "backend": _BACKEND,
    "backend_impl": {
        name: reason for name, reason in _BACKEND.items() if name not in _OF_BACKEND_ONLY
    },
    "data_node": {"not_iterable": INTERNAL},
    "pipeline": {"WorkerPool": INTERNAL},
    "reducers": _each(
        INTERNAL,
        "dummy_lambda get_global_references_from_nested_code set_funcion_state function_unpickle "
        "function_by_value_reducer module_unpickle module_reducer set_cell_state cell_unpickle "
        "cell_reducer",
    ),
}

# Modules that are missing besides those that come later.
LEFT_OUT_MODULES = {
    **_each(INTERNAL, "internal plugin.jax.integration"),
    **_each("is here a folder of operators without modules", "experimental"),
    **{
        f"experimental.torchvision.v2.{name}": "has transforms that are in experimental.torchvision"
        for name in (
            *("centercrop", "color", "compose", "flips", "gaussian_blur", "normalize", "operator"),
            *("pad", "rand_apply", "randomcrop", "resize", "totensor", "functional.centercrop"),
            *("functional.color", "functional.flips", "functional.image_metadata"),
            "functional.totensor",
        )
    },
}

# Parameters that are missing, by the function's subject and name.
LEFT_OUT_PARAMETERS: dict[str, dict[str, str]] = {
    "dali.pipeline_def": {"fn": "is given by position only"},
    "DataNode.__init__": _each("nodes are made by operators only", "device dtype layout name ndim"),
}

# Methods with two underscores that are called by syntax, by protocols of arrays, or by `with`.
PROTOCOLS = frozenset(
    f"__{name}__"
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"),
        *("radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rmatmul", "rand"),
        *("ror", "rxor", "lshift", "rshift", "rlshift", "rrshift", "neg", "pos", "abs", "invert"),
        *("eq", "ne", "lt", "le", "gt", "ge", "hash", "bool", "int", "index", "float", "str"),
        *("len", "getitem", "setitem", "delitem", "contains", "iter", "next", "reversed", "call"),
        *(
            "array",
            "array_interface",
            "cuda_array_interface",
            "dlpack",
            "dlpack_device",
            "enter",
            "exit",
        ),
    )
)


def find(path: str) -> Any:
    """Return a module or class by its path; None if there is no such module."""
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError:
        found = _loaded_submodule(module)
        if found is None:
            return None
    return getattr(found, name, None) if name else found


def _loaded_submodule(path: str) -> Any:
    """Return a module without a file, as an attribute of its parent; None if there is none."""
    above, _, name = path.rpartition(".")
    return getattr(sys.modules.get(above), name, None)


def public_names(subject: Any) -> set[str]:
    """Return the public names."""
    if isinstance(subject, ModuleType):
        return {
            name
            for name, value in vars(subject).items()
            if not name.startswith("_")
            and not isinstance(value, ModuleType)
            and "nvidia.dali" in str(getattr(value, "__module__", subject.__name__))
            # `from __future__ import annotations` defines a name, too.
            and type(value).__name__ != "_Feature"
        }
    return {
        name
        for name in dir(subject)
        if not name.startswith("_")
        or (name in PROTOCOLS and getattr(subject, name) is not getattr(object, name, None))
    }


def parameters(function: Any) -> set[str] | None:
    """Return the names of parameters; None if they are not available.

    Those of functions in C++ are in the first lines of their docstrings.
    """
    owner = getattr(function, "__objclass__", None)
    if owner is not None and owner.__module__.startswith("dali_core"):
        return stubbed_parameters(owner, function.__name__)
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        texts = re.findall(r"^(?:\d+\. )?\w+\((.*)\)(?: ->.*)?$", function.__doc__ or "", re.M)
        names = {name for text in texts for name in re.findall(r"(?:^|, )(\w+): ", text)}
        return {name for name in names if not re.fullmatch(r"self|arg\d|args|kwargs", name)} or None
    named = {parameter.name for parameter in found if parameter.kind not in _VARIABLE}
    return {name for name in named - {"self", "cls"} if not name.startswith("_")}


def stubbed_parameters(owner: type, name: str) -> set[str]:
    """Return the parameters of all overloads of a compiled constructor, from its stub."""
    module = Path(str(sys.modules[owner.__module__].__file__))
    stub = module.with_name(module.name.partition(".")[0] + ".pyi")
    return {
        argument.arg
        for function in ast.walk(_class(ast.parse(stub.read_text("utf-8")), owner.__name__))
        if isinstance(function, ast.FunctionDef) and function.name == name
        for argument in (*function.args.args[1:], *function.args.kwonlyargs)
    }


def _class(module: ast.Module, name: str) -> ast.ClassDef:
    classes = (node for node in module.body if isinstance(node, ast.ClassDef))
    return next(node for node in classes if node.name == name)


def has(subject: Any, name: str) -> bool:
    """Return whether a name exists; in an enumeration, as an attribute of its members."""
    if isinstance(subject, enum.EnumMeta):
        return hasattr(subject, name) or hasattr(next(iter(subject)), name)
    if inspect.isclass(subject):
        # Classes themselves implement `|`, whatever their instances do.
        return any(name in vars(base) for base in subject.__mro__)
    return hasattr(subject, name)


_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def functions(subject: Any, names: set[str]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Return the functions, methods and constructors of a subject."""
    if isinstance(subject, enum.EnumMeta) or hasattr(subject, "__members__"):
        return
    if not isinstance(subject, ModuleType):
        yield "__init__", subject.__init__
    for name in names:
        value = inspect.getattr_static(subject, name)
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        if inspect.isclass(value):
            if isinstance(subject, ModuleType) and not hasattr(value, "__members__"):
                yield name, value.__init__
        elif callable(value):
            yield name, value


@pytest.mark.parametrize("name", [*SUBJECTS, *MODULES])
def test_every_name_exists(name: str) -> None:
    theirs, ours = (find(path) for path in {**SUBJECTS, **MODULES}[name])
    assert theirs is not None
    missing = {name for name in public_names(theirs) if not has(ours, name)}
    assert missing == set(LEFT_OUT.get(name, {}))


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_parameter_exists(name: str) -> None:
    theirs, ours = (find(path) for path in SUBJECTS[name])
    if ours is None:
        assert set(LEFT_OUT.get(name, {})) == public_names(theirs)
        return
    common = {name for name in public_names(theirs) if has(ours, name)}
    own = dict(functions(ours, common))
    for function, value in functions(theirs, common):
        wanted = parameters(value)
        if wanted is None or function not in own or function in PROTOCOLS - {"__dlpack__"}:
            continue
        missing = wanted - (parameters(own[function]) or set())
        assert missing == set(LEFT_OUT_PARAMETERS.get(f"{name}.{function}", {})), function


def exists(path: str) -> bool:
    """Whether there is a module, also if the framework that it is for is not installed."""
    try:
        return find(path) is not None
    except ImportError as error:
        return "must be installed" in str(error)


def test_every_module_exists() -> None:
    folder = Path(find("nvidia.dali").__file__).parent
    paths = [path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py")]
    names = {".".join(path.parts).removesuffix(".__init__") for path in paths}
    public = {name for name in names if not re.search(r"(^|\.)_", name)} - set(LEFT_OUT_MODULES)
    assert {"fn", "plugin.pytorch", "auto_aug.core.policy"} <= public
    missing = {name for name in public if not exists(ELSEWHERE.get(name, f"dali_core.{name}"))}
    assert missing == set()


def test_tables_are_about_something() -> None:
    assert set(LEFT_OUT) <= {*SUBJECTS, *MODULES}
    assert {path.rpartition(".")[0] for path in LEFT_OUT_PARAMETERS} <= set(SUBJECTS)
    tables = (*LEFT_OUT.values(), *LEFT_OUT_PARAMETERS.values())
    assert all(reason for table in tables for reason in table.values())


def test_compared_names_include_known_members() -> None:
    tensor, batch = (find(SUBJECTS[name][0]) for name in ("TensorCPU", "TensorListCPU"))
    on_device = find(SUBJECTS["TensorGPU"][0])
    assert {"as_cpu", "__cuda_array_interface__", "device_id"} <= public_names(on_device)
    assert {"cuda_stream", "non_blocking"} <= (parameters(on_device.copy_to_external) or set())
    assert {"squeeze", "__dlpack__", "__array_interface__", "dtype"} <= public_names(tensor)
    assert parameters(tensor.__init__) == {"object", "b", "layout", "is_pinned"}
    assert {"tl", "list_of_tensors", "contiguous"} <= (parameters(batch.__init__) or set())
    assert parameters(tensor.__dlpack__) == {"stream", "max_version", "dl_device", "copy"}
    pipeline = parameters(find("nvidia.dali:Pipeline"))
    assert pipeline is not None
    assert {"batch_size", "prefetch_queue_depth"} <= pipeline
