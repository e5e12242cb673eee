"""`dali_core.compat`: which names of NVIDIA DALI are available, and when."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.compat.outputs import ROOT
from tests.hanging import HANG_SECONDS

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")])}


def run(*arguments: str, cwd: Path | None = None, status: int = 0, path: Path | None = None) -> str:
    environment = dict(ENVIRONMENT)
    if path is not None:
        environment["PYTHONPATH"] += os.pathsep + str(path)
    result = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        cwd=cwd,
        env=environment,
        check=False,
    )
    assert result.returncode == status, result.stdout + result.stderr
    return result.stdout if status == 0 else result.stderr


def run_code(code: str, **options: object) -> str:
    return run("-c", textwrap.dedent(code), **options)  # type: ignore[arg-type]


def test_modules_are_the_same_under_both_names() -> None:
    output = run_code(
        """
        import sys
        import dali_core.compat
        before = set(sys.modules)
        dali_core.compat.install()
        dali_core.compat.install()
        assert set(sys.modules) == before
        assert sum("dali_core.compat" in type(finder).__module__ for finder in sys.meta_path) == 2

        import nvidia.dali as dali
        import nvidia.dali.fn as fn, nvidia.dali.ops as ops, nvidia.dali.types as types
        import nvidia.dali.fn.readers, nvidia.dali.ops.random as random_ops
        import nvidia.dali.pipeline, nvidia.dali.tensors, nvidia.dali.backend
        import nvidia.dali.plugin.base_iterator as base
        from nvidia.dali import Pipeline, pipeline_def
        from nvidia.dali.data_node import DataNode
        from nvidia.dali.fn.decoders import image
        import dali_core.plugin.base_iterator

        assert fn is dali.fn is dali_core.fn and types is dali_core.types
        assert dali.__version__ == "2.4.0" and dali_core.__version__ != "2.4.0"
        assert dali.Pipeline is dali_core.Pipeline and dali.newaxis is dali_core.newaxis
        assert nvidia.dali.pipeline is dali_core.pipeline and ops is dali_core.ops
        assert nvidia.dali.tensors is dali_core.tensors
        assert nvidia.dali.backend is dali_core.backend
        assert nvidia.dali.fn.readers is dali_core.fn.readers
        assert random_ops is dali_core.ops.random
        assert base is dali_core.plugin.base_iterator
        assert image is dali_core.fn.decoders.image and DataNode is dali_core.DataNode
        assert Pipeline is dali_core.Pipeline and Pipeline.__module__.startswith("dali_core.")
        assert dali_core.__name__ == dali_core.__spec__.name == "dali_core"
        assert types.__spec__.name == "dali_core.types"
        assert dali_core.fn.__package__ == "dali_core"
        print("torch" in sys.modules)
        """
    )
    assert output == "False\n"


def test_missing_modules_raise_compatibility_errors() -> None:
    output = run_code(
        """
        import importlib
        import dali_core.compat
        dali_core.compat.install()
        names = ("no_such", "_runtime", "compat", "plugin._x.y")
        for name in names:
            try:
                importlib.import_module("nvidia.dali." + name)
            except ModuleNotFoundError as error:
                assert isinstance(error, dali_core.errors.CompatibilityError), error
                assert f"nvidia.dali.{name.removesuffix('.y')}: dali_core must have" in str(error)
            else:
                raise AssertionError(name)
        try:
            import nvidia.dali.fn.no_such
        except ModuleNotFoundError as error:
            print(error)
        try:
            from nvidia.dali import no_such
        except ImportError as error:
            print(str(error).partition(" (")[0])
        try:
            import nvidia.dali
            nvidia.dali.fn.no_such
        except AttributeError as error:
            print(error)
        """
    )
    assert output == (
        "No module named 'nvidia.dali.fn.no_such'; 'nvidia.dali.fn' is not a package\n"
        "cannot import name 'no_such' from 'nvidia.dali'\n"
        "module 'dali_core.fn' has no attribute 'no_such'\n"
    )


def test_imperative_api_is_one_module_under_all_names() -> None:
    output = run_code(
        """
        import dali_core.compat
        dali_core.compat.install()
        import nvidia.dali.experimental.dynamic as there
        import nvidia.dali.experimental.dynamic.random as random_there
        from nvidia.dali.experimental import dynamic
        import dali_core.dynamic as here
        print(there is here, dynamic is here, random_there is here.random)
        """
    )
    assert output == "True True True\n"


def test_transforms_are_one_module_under_all_names() -> None:
    output = run_code(
        """
        import dali_core.compat
        dali_core.compat.install()
        from nvidia.dali.experimental.torchvision import Compose
        from nvidia.dali.experimental.torchvision.v2 import functional
        import nvidia.dali.experimental.torchvision.v2.functional as there
        import dali_core.torchvision as here
        print(Compose is here.Compose, functional is here.v2.functional is there)
        """
    )
    assert output == "True True\n"


@pytest.mark.parametrize("regular", [False, True])
def test_beside_other_packages_of_the_namespace(regular: bool, tmp_path: Path) -> None:
    (tmp_path / "nvidia" / "other").mkdir(parents=True)
    (tmp_path / "nvidia" / "other" / "__init__.py").write_text("name = 'other'\n")
    if regular:
        (tmp_path / "nvidia" / "__init__.py").write_text("regular = True\n")
    output = run_code(
        f"""
        import dali_core.compat
        dali_core.compat.install()
        import nvidia.dali.fn
        import nvidia.other
        assert nvidia.dali.fn is dali_core.fn
        assert getattr(nvidia, "regular", False) is {regular}
        print(nvidia.other.name)
        """,
        path=tmp_path,
    )
    assert output == "other\n"


def fake_reference(folder: Path) -> Path:
    (folder / "nvidia" / "dali").mkdir(parents=True)
    (folder / "nvidia" / "__init__.py").touch()
    (folder / "nvidia" / "dali" / "__init__.py").write_text("name = 'the other one'\n")
    return folder


def test_install_shadows_the_reference_until_uninstall(tmp_path: Path) -> None:
    output = run_code(
        """
        import sys
        import dali_core.compat
        dali_core.compat.install()
        import nvidia.dali.fn, nvidia.dali.data_node
        ours = nvidia.dali
        dali_core.compat.uninstall()
        dali_core.compat.uninstall()
        assert not hasattr(nvidia, "dali") and not hasattr(dali_core, "data_node")
        import nvidia.dali
        print(ours.fn.__name__, nvidia.dali.name)
        """,
        path=fake_reference(tmp_path),
    )
    assert output == "dali_core.fn the other one\n"


def test_private_names_are_there_only_for_programs_of_the_reference() -> None:
    output = run_code(
        """
        import importlib, sys
        import dali_core, dali_core.auto_aug.core
        assert not any(name.startswith("dali_core.compat") for name in sys.modules)
        places = {
            "backend": ["GetSchema", "__cuda_version__"], "fn": ["_conditional"],
            "ops": ["_DataNode"], "auto_aug.core": ["_args", "_utils"],
        }
        def found(name):
            return [
                hasattr(sys.modules[f"{name}.{module}"], private)
                for module, names in places.items() for private in names
            ]
        assert found("dali_core") == [False] * 6
        import dali_core.compat
        dali_core.compat.install()
        import nvidia.dali
        for module in places:
            importlib.import_module(f"nvidia.dali.{module}")
        assert found("nvidia.dali") == [True] * 6
        assert "dali_core.compat.operator_schemas" in sys.modules
        dali_core.compat.uninstall()
        print(found("dali_core"))
        """
    )
    assert output == f"{[False] * 6}\n"


def test_added_names_are_looked_up_when_they_are_used() -> None:
    output = run_code(
        """
        import sys
        import dali_core.compat
        dali_core.compat.install()
        import nvidia.dali.fn, nvidia.dali.backend, nvidia.dali.ops
        added = ("conditional_operators", "operator_schemas", "versions", "augmentation_suites")
        print([name for name in added if f"dali_core.compat.{name}" in sys.modules])
        nvidia.dali.fn._conditional
        print([name for name in added if f"dali_core.compat.{name}" in sys.modules])
        """
    )
    assert output == "[]\n['conditional_operators']\n"


def test_uninstall_leaves_nothing() -> None:
    output = run_code(
        """
        import sys
        import dali_core.compat
        paths = list(sys.meta_path)
        had_namespace = "nvidia" in sys.modules
        dali_core.compat.install()
        import nvidia.dali.types, nvidia.dali.fn.readers
        dali_core.compat.uninstall()
        assert sys.meta_path == paths
        print([name for name in sys.modules if name.startswith("nvidia.dali")])
        """
    )
    assert output == "[]\n"


def test_install_after_import_of_the_reference_raises(tmp_path: Path) -> None:
    output = run_code(
        """
        import nvidia.dali
        import dali_core.compat
        try:
            dali_core.compat.install()
        except dali_core.errors.CompatibilityError as error:
            print(error)
        """,
        path=fake_reference(tmp_path),
    )
    assert "must be called before NVIDIA DALI is imported (it was, from " in output
    assert "python -m dali_core.compat" in output


# As a command


def test_program_environment_equals_that_of_python(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "beside.py").write_text("value = 5\n")
    program = tmp_path / "scripts" / "program.py"
    program.write_text(
        "import sys, beside\n"
        "import nvidia.dali.types as types\n"
        "import __main__\n"
        "value = 7\n"
        "print(sys.argv, __name__, beside.value, types.__name__, __main__.value, __file__)\n"
    )
    name = os.path.join("scripts", "program.py")
    output = run("-m", "dali_core.compat", name, "--flag", "x", cwd=tmp_path)
    assert output.split(") ")[0] == (
        f"{[name, '--flag', 'x']} __main__ 5 dali_core.types 7 {name}\n"
    )
    (tmp_path / "module.py").write_text("import sys, nvidia.dali\nprint(sys.argv[1:])\n")
    assert run("-m", "dali_core.compat", "-m", "module", "a", cwd=tmp_path) == "['a']\n"


def test_exit_codes_and_errors(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys\nsys.exit(7)\n")
    run("-m", "dali_core.compat", str(program), status=7)
    program.write_text("def fail():\n    raise ValueError('here')\n\nfail()\n")
    output = run("-m", "dali_core.compat", str(program), status=1)
    assert f'File "{program}", line 2, in fail' in output
    assert output.endswith("ValueError: here\n")
    output = run("-m", "dali_core.compat", "absent.py", status=2)
    assert output == "python -m dali_core.compat: there must be a file 'absent.py'\n"
    assert run("-m", "dali_core.compat", status=2).startswith("usage: ")
    assert run("-m", "dali_core.compat", "--help").startswith("usage: ")
