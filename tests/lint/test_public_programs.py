"""Programs that use all of the public interface pass a strict type checker, and run.

Each file in `programs` is one of them; nothing else has to be registered. A public name that no
program uses fails a test here.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mypy import api

import dali_core
from dali_core import errors, math, types
from dali_core.plugin import jax, pytorch
from dali_core.plugin.jax import clu
from dali_core.plugin.pytorch.experimental.proxy import DALIProxy, DALIServer
from dali_core.statistics import PipelineStatistics
from dali_core.tensors import TensorCPU, TensorListCPU

PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))
CLASSES = (
    *(TensorCPU, TensorListCPU, dali_core.Pipeline, PipelineStatistics),
    *(DALIProxy, DALIServer),
    *(pytorch.DALIGenericIterator, pytorch.DALIClassificationIterator, pytorch.DALIRaggedIterator),
    *(jax.DALIGenericIterator, clu.DALIGenericPeekableIterator),
    *(dali_core.Loader, dali_core.pytorch.Loader, dali_core.jax.Loader),
)
MODULES = (types, errors, math, pytorch, jax, clu)


def test_public_programs_pass_strict_mypy() -> None:
    output, problems, status = api.run(["--strict", *map(str, PROGRAMS)])
    assert (problems, status) == ("", 0), output
    for program in PROGRAMS:  # some code of the library is for other versions of Python
        assert "# mypy: warn-unreachable\n" in program.read_text(), program


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_public_programs_run(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def _names_used() -> set[str]:
    nodes = [node for program in PROGRAMS for node in ast.walk(ast.parse(program.read_text()))]
    return (
        {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        | {node.id for node in nodes if isinstance(node, ast.Name)}
        | {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        | {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    )


@pytest.mark.parametrize("subject", CLASSES, ids=lambda subject: subject.__name__)
def test_public_programs_use_every_method(subject: type) -> None:
    public = {name for name in dir(subject) if not name.startswith("_")}
    assert public - _names_used() == set()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_public_programs_use_every_name(module: Any) -> None:
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and (isinstance(value, type) or module is not errors)
        and getattr(value, "__module__", "dali_core").startswith("dali_core")
        and not isinstance(value, (types.DALIDataType, types.DALIInterpType, types.DALIImageType))
    }
    assert public - _names_used() - {"TYPE_CHECKING", "Input"} == set()
