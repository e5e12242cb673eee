"""Finding adapters by name."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from dali_core import adapters
from dali_core._extras import install_command
from dali_core.adapters import Adapter, get_adapter, list_adapters
from dali_core.errors import AdapterError
from tests.hanging import HANG_SECONDS


class ListAdapter(Adapter):
    name = "plain"

    def from_tensor(self, tensor: Any) -> Any:
        return tensor


plain = ListAdapter()
not_an_adapter = 3


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace what is installed by entry points into this module."""
    points = {
        "plain": EntryPoint("plain", f"{__name__}:plain", "dali_core.adapters"),
        "missing": EntryPoint("missing", "no_such_framework:adapter", "dali_core.adapters"),
        "wrong": EntryPoint("wrong", f"{__name__}:not_an_adapter", "dali_core.adapters"),
    }
    monkeypatch.setitem(sys.modules, __name__, sys.modules[ListAdapter.__module__])
    monkeypatch.setattr(adapters, "_entry_points", lambda: points)
    monkeypatch.setattr(adapters, "_loaded", {})


@pytest.mark.usefixtures("installed")
class TestRegistry:
    def test_lists_names_without_loading(self) -> None:
        assert list_adapters() == ["missing", "plain", "wrong"]
        assert "no_such_framework" not in sys.modules

    def test_loads_once(self) -> None:
        assert get_adapter("plain") is plain
        assert get_adapter("plain") is plain

    def test_unknown_name_lists_installed_adapters(self) -> None:
        with pytest.raises(AdapterError, match=r"got 'nope'\). Installed: missing, plain, wrong"):
            get_adapter("nope")

    def test_missing_framework_names_the_extra(self) -> None:
        with pytest.raises(AdapterError, match=r"No module named 'no_such_framework'") as caught:
            get_adapter("missing")
        assert install_command("missing") in str(caught.value)
        assert isinstance(caught.value.__cause__, ImportError)

    def test_an_entry_point_must_be_an_adapter(self) -> None:
        with pytest.raises(AdapterError, match=r"must be an Adapter object \(got 3\)"):
            get_adapter("wrong")


def test_the_core_imports_no_framework() -> None:
    code = (
        "import sys, dali_core, dali_core.adapters, dali_core.testing, "
        "dali_core.plugin.base_iterator\n"
        "frameworks = {'torch', 'jax', 'pytest', 'dali_core_jax', 'dali_core_pytorch'}\n"
        "print(sorted(frameworks & set(sys.modules)))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    assert output.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("module", "framework", "extra"),
    [
        ("dali_core.plugin.pytorch", "PyTorch", "pytorch"),
        ("dali_core.plugin.jax", "JAX", "jax"),
        ("dali_core.plugin.jax.clu", "JAX", "jax"),
        ("dali_core.plugin.paddle", "PaddlePaddle", "paddle"),
        ("dali_core.plugin.tf", "TensorFlow", "tensorflow"),
        ("dali_core.plugin.tf.experimental", "TensorFlow", "tensorflow"),
    ],
)
def test_import_without_the_framework_names_the_extra(
    module: str, framework: str, extra: str
) -> None:
    code = (
        "import sys\n"
        "sys.modules['torch'] = sys.modules['jax'] = None\n"
        "sys.modules['paddle'] = sys.modules['tensorflow'] = None\n"
        "try:\n"
        f"    import {module}\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    output = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    package = module.removesuffix(".clu").removesuffix(".experimental")
    assert output.stdout.startswith(f"{package}: {framework} must be installed")
    assert install_command(extra) in output.stdout
