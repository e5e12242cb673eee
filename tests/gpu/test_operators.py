"""Every operator that runs on a device returns the same there as on the host: on real hardware."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dali_core import cuda
from tests.cuda.operators_on_device import CHECKS, ON_HARDWARE, TOLERANCES, items_here, run_checks

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).parents[2]
CUBINS = Path(cuda.__file__).parent / "_cuda" / "cubins"
# The folder has no machine code, so the driver has to compile PTX.
FROM_PTX = """
import sys
from pathlib import Path
from dali_core._cuda import module
from tests.cuda.operators_on_device import ON_HARDWARE, TOLERANCES, items_here, main
TOLERANCES.update(ON_HARDWARE)
module.folders[:] = [Path(sys.argv[1])]
main(sys.argv[2], "outputs_on_the_device", items=items_here()[0])
"""
ITEMS, MISSING = items_here()


@pytest.mark.parametrize(
    ("operator", "example"),
    [
        *(pytest.param(*item, id=f"{item[0]}-{item[1].name}") for item in ITEMS),
        *(
            pytest.param(operator, None, marks=pytest.mark.skip(reason=reason), id=operator)
            for operator, reason in MISSING.items()
        ),
    ],
)
def test_device_equals_host(
    operator: str, example: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, tolerance in ON_HARDWARE.items():
        monkeypatch.setitem(TOLERANCES, name, tolerance)
    ((_, _, failures),) = run_checks(tuple(CHECKS), [(operator, example)])
    assert not failures, failures


def test_every_kernel_is_loaded() -> None:
    from dali_core._cuda.module import load_kernel

    kernels = json.loads((CUBINS / "kernels.json").read_text("utf-8"))
    assert kernels
    for device in range(cuda.device_count()):
        for name in kernels:
            load_kernel(name, device)


def test_driver_jit_compiles_ptx_for_newer_devices(tmp_path: Path) -> None:
    for file in [*CUBINS.glob("*.ptx.gz"), CUBINS / "kernels.json"]:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, "-c", FROM_PTX, str(tmp_path), str(log)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert len(lines) == len(ITEMS)
    assert [line for line in lines if line[2]] == []
