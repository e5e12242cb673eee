"""The sdist and the wheel work, in an environment of their own (other tests install editably)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("installed_program.py")


def run(*command: str | Path, cwd: Path | None = None, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= variables
    result = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout.strip()


def make_environment(folder: Path, *requirements: str | Path) -> Path:
    """Make an environment with some packages, and return its Python."""
    # The pip of the tests installs: one in each environment would be unpacked and started first.
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", *requirements)
    return python


# Build outputs of Ninja in the source tree: objects, and its logs.
BUILT = ("units", "objects", "cython", "cubins", "modules", ".ninja_log", ".ninja_deps")


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build an sdist from the sources, and a wheel from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "build", "--outdir", folder)
    run(*build, "--sdist", "--no-isolation", ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    # Existing build outputs are reused here, if all their inputs exist and are unchanged: Ninja
    # fails if a file is missing, and compiles what has changed.
    for name in BUILT:
        source, target = ROOT / "build" / name, unpacked(folder) / "build" / name
        if source.is_dir():
            shutil.copytree(source, target)
        elif source.exists():
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(source, target)
    # In an isolated environment, with the build requirements of the project. As in `make wheel`:
    # FFmpeg is provided by PyAV.
    run(*build, "--wheel", unpacked(folder), DALI_CORE_WITH_FFMPEG="0")
    return folder


def unpacked(distributions: Path) -> Path:
    """Return the folder of the unpacked sdist, with its build outputs."""
    (folder,) = (distributions / "unpacked").iterdir()
    return folder


def test_sdist_has_everything_to_build_and_nothing_built(distributions: Path) -> None:
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    tracked = run("git", "ls-files", "dali_core", "adapters", cwd=ROOT).splitlines()
    assert set(tracked) <= set(names)
    assert not [
        name
        for name in names
        if name.endswith((".so", ".pyc", ".o", ".gz", "dali_core_video_worker"))
    ]


def test_wheel_has_stubs_and_no_sources_of_native_code(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "dali_core/fn/__init__.pyi" in names
    assert "dali_core/py.typed" in names
    assert "dali_core_pytorch/py.typed" in names
    assert "dali_core/include/dali_core/operator.hpp" in names
    assert [name for name in names if name.startswith("dali_core/_runtime/executor.")]
    # What packages with operators are compiled with.
    sources = [name for name in names if not name.startswith("dali_core/include/")]
    assert not [
        name for name in sources if name.endswith((".cpp", ".pyx", "dali_core_video_worker"))
    ]
    assert not [name for name in names if name.startswith(("tests", "examples", "benchmarks"))]


def names_for_gpus(wheel: Path) -> set[str]:
    """Return the Cython modules that use GPUs."""
    with zipfile.ZipFile(wheel) as archive:
        names = [Path(name) for name in archive.namelist()]
    return {
        name.name.partition(".")[0]
        for name in names
        if name.parent == Path("dali_core/_cuda") and name.suffix == ".so"
    }


def modules_of(wheel: Path) -> set[str]:
    """Return the files with device code, without the architecture."""
    with zipfile.ZipFile(wheel) as archive:
        folder = "dali_core/_cuda/cubins/"
        names = [name for name in archive.namelist() if name.startswith(folder)]
    return {name.removeprefix(folder).partition(".sm_")[0] for name in names}


@pytest.mark.skipif(sys.platform != "linux", reason="device code is compiled on Linux")
def test_wheel_has_device_code(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    assert modules_of(wheel) >= {"copy", "copy.ptx.gz", "kernels.json"}
    sources = ROOT.glob("dali_core/_cuda/*.pyx")
    assert names_for_gpus(wheel) == {source.stem for source in sources}
    with zipfile.ZipFile(wheel) as archive:
        sources = (".cu", "cstdint", "cubins.py")
        assert not [name for name in archive.namelist() if name.endswith(sources)]


def test_wheel_without_cuda(distributions: Path, tmp_path: Path) -> None:
    # In a folder where one with CUDA was built before.
    command = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path)
    run(*command, unpacked(distributions), DALI_CORE_WITH_CUDA="0")
    (wheel,) = tmp_path.glob("*.whl")
    assert modules_of(wheel) == names_for_gpus(wheel) == set()


def test_wheel_from_the_sdist_works(distributions: Path, tmp_path: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    python = make_environment(tmp_path / "environment", wheel)
    where = run(python, PROGRAM, cwd=tmp_path)
    assert where.startswith(str(tmp_path / "environment"))
    adapters = run(
        python,
        "-c",
        "from dali_core.adapters import list_adapters; print(list_adapters())",
        cwd=tmp_path,
    )
    assert "pytorch" in adapters


@pytest.fixture(scope="module")
def repaired(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repair the wheel for other machines, as `make wheel` does."""
    (wheel,) = distributions.glob("*.whl")
    folder = tmp_path_factory.mktemp("repaired")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = (sys.executable, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", folder)
    run(*command, wheel, PATH=path)
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel repairs wheels for Linux")
def test_repaired_wheel_bundles_its_libraries(distributions: Path, repaired: Path) -> None:
    assert "manylinux" in repaired.name
    assert repaired.stat().st_size < 25 << 20
    (original,) = distributions.glob("*.whl")
    needs_libjpeg = b"libjpeg.so" in executor_of(original)
    with zipfile.ZipFile(repaired) as archive:
        inside = [name for name in archive.namelist() if name.startswith("dali_core.libs/")]
    assert any("libjpeg" in name for name in inside) == needs_libjpeg


def executor_of(wheel: Path) -> bytes:
    """Return the content of the module with the engine and all operators."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (name,) = (each for each in names if each.startswith("dali_core/_runtime/executor.cpython"))
        return archive.read(name)


@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel repairs wheels for Linux")
def test_demo_trains_with_the_repaired_wheel_and_no_programs(
    repaired: Path, tmp_path: Path
) -> None:
    constraints = ROOT / "constraints.txt"
    python = make_environment(tmp_path / "environment", "-c", constraints, f"{repaired}[demo]")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    few = ("--classes", "dunes", "marbles", "--per-class", "25")
    for program in (
        ("examples.photos", *few, "photos"),
        ("examples.train_classifier", "--epochs", "1", "--data", "photos"),
    ):
        # Without compilers, other programs, headers or settings.
        done = subprocess.run(
            [python, "-m", *program],
            cwd=tmp_path,
            env={"PATH": "", "MPLCONFIGDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=HANG_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "accuracy: " in done.stdout


def test_package_with_operators(distributions: Path, tmp_path: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    python = make_environment(tmp_path / "environment", wheel, "setuptools>=80")
    run(python, "-m", "dali_core.scaffold", "package", "my_ops", "my.solarize", cwd=tmp_path)
    install = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    run(*install, "--no-build-isolation", "--no-deps", tmp_path / "my_ops")
    program = (
        "import sys, numpy as np; from dali_core import Pipeline, fn\n"
        "pipeline = Pipeline(1, 1, None)\n"
        "with pipeline: pipeline.set_outputs(fn.my.solarize(np.uint8([7, 200]), factor=1.5))\n"
        "print(*np.array(pipeline.run()[0].at(0)), 'torch' in sys.modules)"
    )
    assert run(python, "-c", program, cwd=tmp_path) == "11 255 False"
