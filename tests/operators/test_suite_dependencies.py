"""The shared suite of an operator needs only the dependencies of the core, and its own examples."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.operators.suite import present_names

SUITE = Path(__file__).with_name("test_suite.py")
OPTIONAL = (
    *("PIL", "array_record", "astropy", "av", "cloudpickle", "cuda", "fsspec", "jinja2", "lmdb"),
    *("obstore", "pyarrow", "soundfile", "torch", "tqdm"),
)


def collect(*options: str) -> list[str]:
    """Collect the suite without optional packages; return the names of its tests and modules."""
    program = f"""
import sys
sys.modules.update(dict.fromkeys({OPTIONAL}))
import pytest
status = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *{[str(SUITE), *options]}])
print(*(name for name in sys.modules if name.startswith("tests.operators.")), sep="\\n")
sys.exit(status)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=SUITE.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("operator", ["flip", "decoders.image", "experimental.readers.fits"])
def test_suite_of_one_operator_imports_only_its_examples(operator: str) -> None:
    found = collect("-k", operator)
    assert any(f"[{operator}" in line for line in found)
    modules = {
        ".".join(("tests.operators", *group, f"test_{name}"))
        for *group, name in (present.split(".") for present in present_names())
    }
    imported = modules & set(found)
    assert imported <= {name for name in modules if operator.rpartition(".")[2] in name}


def test_all_operators_are_collected_without_optional_packages() -> None:
    found = collect()
    assert all(any(f"[{name}]" in line for line in found) for name in present_names())
