"""The build of native code: incremental compilation, and failures."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from setuptools.errors import CompileError

from building import toolchain
from building.extensions import VIDEO_PROGRAM, VIDEO_WORKER
from tests.hanging import HANG_SECONDS
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
MODULE = """
cdef extern from "number.hpp":
    int number()

def answer():
    return number()
"""
OPERATOR = '#include "number.hpp"\nint {name}() {{ return number(); }}\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a small library that is built like the real one, in a folder with an unusual path."""
    project = tmp_path / "with.dot and späces"
    project.mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project / name)
    shutil.copytree(ROOT / "building", project / "building")
    # With so many units, the last two operators are compiled at once.
    extensions = project / "building" / "extensions.py"
    text = re.sub(r"(?m)^(NUM_OPERATOR_UNITS) = \d+", r"\1 = 24", extensions.read_text())
    extensions.write_text(text)
    engine = project / "dali_core" / "_runtime" / "engine"
    engine.mkdir(parents=True)
    (project / "adapters").mkdir()
    for folder in (engine.parent, engine.parent.parent):
        (folder / "__init__.py").touch()
    (engine.parent / "executor.pyx").write_text(MODULE)
    (engine / "precompiled.hpp").write_text("#pragma once\n#include <string>\n")
    (engine / "precompiled_with_python.hpp").write_text("#include <Python.h>\n")
    (engine / "number.hpp").write_text("#pragma once\nint number();\n")
    (engine / "number.cpp").write_text('#include "number.hpp"\nint number() { return 42; }\n')
    vocabulary = project / "dali_core" / "include" / "dali_core"
    vocabulary.mkdir(parents=True)
    (vocabulary / "shared.cpp").write_text("int shared() { return 1; }\n")
    operators = project / "dali_core" / "operators"
    operators.mkdir()
    for name in ("first", "second", "other"):
        (operators / f"{name}.cpp").write_text(OPERATOR.format(name=name))
    return project


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("CFLAGS", "CXX")}
    # As after `make PYTHON=`, for another program than the one that builds.
    kept["PYTHON"] = "no-such-python"
    return {**kept, "CFLAGS": "-O0", "DALI_CORE_WITH_CUDA": "0", "MAX_JOBS": "2", **variables}


def start(project: Path, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=project,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def build(project: Path, **variables: str) -> tuple[int, str]:
    process = start(project, **variables)
    output, _ = process.communicate(timeout=HANG_SECONDS)
    return process.returncode, output


def compiled(output: str) -> list[str]:
    """Return the sources that were compiled."""
    return sorted(Path(name).name for name in re.findall(r"C\+\+ (\S+)", output))


def answer(project: Path) -> str:
    program = "from dali_core._runtime.executor import answer; print(answer())"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


def test_only_changed_sources_are_compiled(project: Path) -> None:
    status, output = build(project)
    assert status == 0, output
    [united] = [name for name in compiled(output) if name.startswith("operators_")]
    assert compiled(output) == ["executor.cpp", "first.cpp", "number.cpp", united, "shared.cpp"]
    assert re.search(r"^\[\d+/\d+, +[\d.]+ s\] link ", output, re.MULTILINE)
    assert answer(project) == "42"
    assert compiled(build(project)[1]) == []

    operators = project / "dali_core" / "operators"
    (operators / "first.cpp").write_text(OPERATOR.format(name="renamed"))
    assert compiled(build(project)[1]) == ["first.cpp"]
    (operators / "other.cpp").write_text(OPERATOR.format(name="renamed_as_well"))
    assert compiled(build(project)[1]) == [united]
    number = project / "dali_core" / "_runtime" / "engine" / "number.hpp"
    number.write_text(number.read_text() + "// changed\n")
    assert {"first.cpp", united} < set(compiled(build(project)[1]))
    # A module whose C++ stays the same is not compiled again.
    os.utime(project / "dali_core" / "_runtime" / "executor.pyx")
    status, output = build(project)
    assert "Cython dali_core/_runtime/executor.pyx" in output
    assert compiled(output) == []
    # A deleted source is not linked any more.
    (operators / "first.cpp").unlink()
    status, output = build(project)
    assert (status, compiled(output)) == (0, [])
    assert "link" in output
    (operators / "other.cpp").unlink()
    status, output = build(project)
    assert (status, compiled(output)) == (0, ["second.cpp"])


def test_cimported_modules_are_dependencies(project: Path) -> None:
    package = project / "dali_core"
    (package / "numbers.pxd").write_text("cdef extern from *:\n    ctypedef int number\n")
    (package / "others.pxd").write_text("from dali_core cimport numbers\n")
    (package / "first.pyx").touch()
    (package / "made.pyx").write_text("from given cimport text\nfrom dali_core cimport others\n")
    # Of a package that is installed in a folder of the project, and will be elsewhere next time.
    given = project / "lib" / "site-packages" / "given"
    given.mkdir(parents=True)
    (given / "__init__.pxd").touch()
    (given / "text.pxd").write_text("cdef extern from *:\n    ctypedef char letter\n")
    command = [sys.executable, "-m", "building.run_cython", "--into", "made"]
    command += ["dali_core/first.pyx", "dali_core/made.pyx"]
    variables = os.environ | {"PYTHONPATH": str(given.parent)}
    subprocess.run(command, cwd=project, env=variables, check=True)
    made = project / "made" / "dali_core"
    assert {path.name for path in made.iterdir()} == {"first.cpp", "first.cpp.d", "made.cpp"}
    made_from = set((made / "first.cpp.d").read_text().partition(":")[2].split())
    names = ("first.pyx", "made.pyx", "numbers.pxd", "others.pxd")
    assert made_from == {f"dali_core/{name}" for name in names}


def test_errors_of_the_compiler_are_shown(project: Path) -> None:
    source = project / "dali_core" / "operators" / "first.cpp"
    source.write_text("int broken() { return nothing; }\n")
    status, output = build(project)
    assert status != 0
    assert re.search(r"first\.cpp:1:\d+: error: .*nothing", output)
    assert "building dali_core failed" in output
    source.write_text(OPERATOR.format(name="first"))
    assert build(project)[0] == 0
    assert answer(project) == "42"


@pytest.mark.parametrize("name", ["no-such-compiler", "false"])
def test_without_a_compiler(project: Path, name: str) -> None:
    status, output = build(project, CXX=name)
    assert status != 0
    assert re.search(rf"error: building dali_core needs a .*C\+\+17.* \(got '?{name}", output)
    assert "Install" in output
    assert "Traceback" not in output


def test_without_headers_of_python(project: Path) -> None:
    text = (project / "building" / "toolchain.py").read_text()
    text = text.replace('sysconfig.get_path("include")', '"nowhere"')
    (project / "building" / "toolchain.py").write_text(text)
    status, output = build(project)
    assert status != 0
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"error: building dali_core needs the headers of Python {version}" in output
    assert f"python{version}-dev" in output


def test_full_disk_while_building(project: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        status, output = build(project)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert status != 0
    assert "building dali_core failed" in output
    status, output = build(project)
    assert status == 0, output
    assert answer(project) == "42"


def test_concurrent_builds(project: Path) -> None:
    builds = [start(project) for _ in range(2)]
    outputs = [process.communicate(timeout=HANG_SECONDS)[0] for process in builds]
    assert [process.returncode for process in builds] == [0, 0], outputs
    # The second build has nothing to do.
    assert sorted(len(compiled(output)) for output in outputs) == [0, 5]
    assert answer(project) == "42"


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_can_be_started_again(project: Path, kind: signal.Signals) -> None:
    # The compiler waits until somebody writes to this header.
    header = project / "dali_core" / "_runtime" / "engine" / "waits.hpp"
    os.mkfifo(header)
    source = project / "dali_core" / "operators" / "waits.cpp"
    source.write_text('#include "waits.hpp"\n')
    process = subprocess.Popen(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=project,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    objects = project / "build" / "objects"
    wait_until(lambda: list(objects.rglob("*.o")))
    # As a terminal does, to all of them.
    os.killpg(process.pid, kind)
    assert process.wait(timeout=HANG_SECONDS) != 0
    header.unlink()
    header.touch()
    status, output = build(project)
    assert status == 0, output
    assert answer(project) == "42"


# Optional libraries


def pkg_config(folder: Path, answer: str | None) -> str:
    """Create a `pkg-config` that finds all packages, or none; return the PATH that contains it."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    program = programs / "pkg-config"
    program.write_text(f"#!/bin/sh\necho '{answer}'\n" if answer else "#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    return os.pathsep.join([str(programs), os.environ["PATH"]])


def test_worker_for_videos(project: Path, tmp_path: Path) -> None:
    folder = project / VIDEO_WORKER
    folder.mkdir(parents=True)
    (folder / "main.cpp").write_text("#include <header.h>\nint main() { return ANSWER; }\n")
    (tmp_path / "the headers").mkdir()
    (tmp_path / "the headers" / "header.h").write_text("#define ANSWER 42\n")
    found = pkg_config(tmp_path, rf"-I{tmp_path}/the\ headers -lm")
    only_ffmpeg = {"PATH": found, "DALI_CORE_WITH_LIBJPEG": "0"}
    status, output = build(project, **only_ffmpeg)
    assert status == 0, output
    assert "main.cpp" in compiled(output)
    program = project / VIDEO_PROGRAM
    assert subprocess.run([program], check=False).returncode == 42
    assert answer(project) == "42"
    # A later build without it leaves no files behind.
    status, output = build(project, **only_ffmpeg, DALI_CORE_WITH_FFMPEG="0")
    assert status == 0, output
    assert not program.exists()
    missing = pkg_config(tmp_path, None)
    status, output = build(project, PATH=missing, DALI_CORE_WITH_FFMPEG="1")
    assert status != 0
    assert "error: DALI_CORE_WITH_FFMPEG=1 needs the development files of FFmpeg" in output
    assert "libavcodec-dev" in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("switch", "package"),
    [("LIBJPEG", "libjpeg62-turbo-dev"), ("FFMPEG", "libavcodec-dev, libavformat-dev")],
)
def test_environment_variable_switches_the_build(
    switch: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = f"DALI_CORE_WITH_{switch}"
    find = {"LIBJPEG": toolchain.libjpeg, "FFMPEG": toolchain.ffmpeg}[switch]
    nothing = {"LIBJPEG": ([], []), "FFMPEG": None}[switch]
    for value in ("", "1"):
        monkeypatch.setenv(variable, value)
        monkeypatch.setenv("PATH", pkg_config(tmp_path, "-I/headers -L/libraries -lsome"))
        compiling, linking = find() or ([], [])
        assert "-I/headers" in compiling
        assert linking[:2] == ["-L/libraries", "-lsome"]
        monkeypatch.setenv("PATH", pkg_config(tmp_path, None))
        if value == "1":
            with pytest.raises(CompileError, match=f"{variable}=1 needs .* {package}"):
                find()
        else:
            assert find() == nothing
    monkeypatch.setenv(variable, "0")
    monkeypatch.setenv("PATH", pkg_config(tmp_path, "-lsome"))
    assert find() == nothing


def test_wheels_for_other_machines_leave_ffmpeg_out() -> None:
    assert "DALI_CORE_WITH_FFMPEG=0 .venv/wheel/bin/python -m build --wheel" in (
        ROOT / "Makefile"
    ).read_text("utf-8")
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    (environment_of_wheels,) = re.findall(r"^environment = (.*)$", settings, re.MULTILINE)
    assert 'DALI_CORE_WITH_FFMPEG = "0"' in environment_of_wheels
