"""Functions and classes are made when they are looked up, and are listed before."""

from __future__ import annotations

import inspect
import pickle
import sys
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import pytest

from dali_core import fn, ops
from dali_core._graph.namespaces import class_name, fill_classes, fill_functions
from dali_core._registry.specs import all_specs
from dali_core.operators.torchvision_names import TORCHVISION_NAMES

NAME = "made_by_a_test"
TOP = {name for name in all_specs() if "." not in name}
GROUPS = {name.partition(".")[0] for name in all_specs() if "." in name}


@pytest.fixture(params=[fill_functions, fill_classes])
def module(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """Return a module like `fn` or `ops`, of which nothing was looked up."""
    made = sys.modules[NAME] = ModuleType(NAME)
    request.param(vars(made), NAME)
    yield made
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


def names_in(module: ModuleType) -> set[str]:
    """Return the names of operators as this module has them."""
    return {class_name(name) for name in TOP} if "Resize" in dir(module) else TOP


def test_dir_lists_operators_without_creating_them(module: ModuleType) -> None:
    assert set(dir(module)) >= names_in(module) | GROUPS
    assert set(vars(module)).isdisjoint(names_in(module))
    assert set(vars(module)) >= GROUPS


def test_import_of_everything(module: ModuleType) -> None:
    found: dict[str, Any] = {}
    exec(f"from {NAME} import *", found)
    assert set(found) - {"__builtins__"} == names_in(module) | GROUPS


def test_threads_get_the_same_object(module: ModuleType) -> None:
    num_threads = 8
    start = threading.Barrier(num_threads)

    def look_up(name: str) -> Any:
        start.wait()
        return getattr(module, name)

    with ThreadPoolExecutor(num_threads) as pool:
        for name in sorted(names_in(module))[:20]:
            found = {id(each) for each in pool.map(look_up, [name] * num_threads)}
            assert found == {id(getattr(module, name))}


@pytest.mark.parametrize("name", ["resize", "readers.file", "decoders.image"])
def test_names_and_modules_of_operators(name: str) -> None:
    group, _, short = name.rpartition(".")
    function: Any = fn
    cls: Any = ops
    for part in filter(None, group.split(".")):
        function, cls = getattr(function, part), getattr(cls, part)
    function, cls = getattr(function, short), getattr(cls, class_name(name))
    assert function.__module__ == ".".join(filter(None, ["dali_core.fn", group]))
    assert cls.__module__ == ".".join(filter(None, ["dali_core.ops", group]))
    assert (function.__qualname__, cls.__qualname__) == (short, class_name(name))
    assert list(inspect.signature(function).parameters)
    assert pickle.loads(pickle.dumps(function)) is function
    assert pickle.loads(pickle.dumps(cls)) is cls


def test_unknown_names_raise_attribute_error(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{NAME}' has no attribute 'resise'"):
        _ = module.resise


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("resise", "resize"),
        ("RandomResizedCrop", "random_resized_crop"),
        ("CenterCrop", "crop"),
        ("ColorJitter", "color_twist"),
        ("ToTensor", "crop_mirror_normalize"),
        ("zzz_no_such", None),
    ],
)
def test_error_text_suggests_a_name(name: str, meant: str | None) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(fn, name)
    hint = f". Did you mean {meant!r}?" if meant else ""
    assert str(caught.value) == f"module 'dali_core.fn' has no attribute {name!r}{hint}"
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.count("Did you mean") == bool(meant), "Python adds no suggestion of its own"


def test_names_of_torchvision_stand_for_operators() -> None:
    for name, meant in TORCHVISION_NAMES.items():
        with pytest.raises(AttributeError, match=f"Did you mean '{meant}'"):
            getattr(fn, name)
        assert callable(getattr(fn, meant))


def test_unknown_names_of_groups_raise_attribute_error(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{NAME}.readers' has no attribute 'fil'"):
        _ = module.readers.fil
