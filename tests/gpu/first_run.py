"""The first run on a machine with a GPU and without a network: see README.md beside this file.

``first_run.py install WHEELS`` makes a folder of packages from the carried wheels, once.
``first_run.py STEP`` runs one of the steps, which take less than ten minutes, and leaves STEP.json
among the results: the device, the date, the exit status, the seconds and what was printed last.
It needs Python and its standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM
from types import FrameType
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(os.environ.get("DALI_CORE_PACKAGES", ROOT / "build" / "first_run")).absolute()
SECONDS = 560
SECONDS_TO_END = 15  # for a command that was asked to
KEPT_CHARACTERS = 8000
COPIED = ("tests", "benchmarks", "building", "examples", "pyproject.toml")
NEEDED = {"numpy": "numpy", "pytest": "pytest", "hypothesis": "hypothesis"}
NEEDED |= {"cuda.bindings": "cuda-bindings", "PIL": "pillow"}
TIMED_OUT, INTERRUPTED = 124, 130

# Warnings of other libraries, of whatever version is there, are no errors.
PYTEST = ("-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-o", "filterwarnings=default")
TESTS = {
    "correctness": ("kernels", "conversions", "memory"),
    "operators": ("operators",),
    "order": ("order",),
    "frameworks": ("frameworks", "exchange", "decoding"),
}
MEASUREMENTS = {
    "kernels": ("--without-pipeline",),
    "pipeline": ("--without-kernels", "--peers", "ours"),
}
STEPS = ("correctness", "operators", "order", "kernels", "pipeline", "frameworks")
SANITIZER = "compute-sanitizer"
# The library checks what the driver returns; that some calls fail is expected.
SANITIZER_OPTIONS = (
    *("--tool", "memcheck", "--track-stream-ordered-races", "all"),
    *("--report-api-errors", "no", "--error-exitcode", "9"),
)

FIND_MODULE = "import importlib.util, sys; sys.exit(importlib.util.find_spec({!r}) is None)"
DESCRIBE = """
import json, dali_core
from dali_core import cuda
try:
    device, reason = cuda.device_name(0), ""
except Exception as error:
    device, reason = "", f"{type(error).__name__}: {error}"
print(json.dumps([dali_core.__file__, device, reason]))
"""
# All folders of the path with packages of NVIDIA are searched, even if another one has such a file.
NAMESPACE = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"


def fail(message: str) -> NoReturn:
    """End with a message."""
    print(f"first_run.py: {message}", file=sys.stderr)
    sys.exit(2)


def free_megabytes(folder: Path) -> int:
    """Return the free space of the disk that has, or is to have, a folder."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free >> 20


def environment() -> dict[str, str]:
    """Return the variables of every command: the carried packages come first."""
    there = os.environ.get("PYTHONPATH", "")
    folders = [str(PACKAGES), str(PACKAGES / "checkout"), *filter(None, [there])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(folders), "DALI_CORE_REQUIRE_GPU": "1"}


# Installing


def install(wheels: Path) -> None:
    """Unpack the wheels into a new folder, which takes the place of an old one when complete."""
    files = sorted(wheels.glob("*.whl"))
    check_wheels(wheels, files)
    lacking = [
        package
        for module, package in NEEDED.items()
        if subprocess.run(
            [sys.executable, "-c", FIND_MODULE.format(module)], capture_output=True, check=False
        ).returncode
    ]
    if lacking:
        fail(f"{sys.executable} must have {', '.join(lacking)} (not found). Use another Python.")
    new = PACKAGES.with_name(f"{PACKAGES.name}.new")
    try:
        shutil.rmtree(new, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps"]
        command += ["--no-compile", "--quiet", "--disable-pip-version-check", "--target", str(new)]
        done = subprocess.run([*command, *map(str, files)], check=False)
        if done.returncode != 0:
            fail(
                f"pip must install the wheels (it ended with status {done.returncode}, see above; "
                f"{free_megabytes(PACKAGES)} MB of disk are free)."
            )
        arrange_nvidia(new)
        # The tests come from the checkout, whose own folder of the library has no native modules.
        (new / "checkout").mkdir()
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, new / "checkout" / name)
        shutil.rmtree(PACKAGES, ignore_errors=True)
        new.rename(PACKAGES)
    except OSError as error:
        fail(f"{PACKAGES} cannot be written ({error}; {free_megabytes(PACKAGES)} MB are free).")
    finally:
        shutil.rmtree(new, ignore_errors=True)
    place, device, reason = describe()
    print(f"{place} ({device or f'no GPU: {reason}'})")


def check_wheels(folder: Path, files: Sequence[Path]) -> None:
    """Fail unless there is a wheel of the library that this Python can use."""
    ours = [file for file in files if file.name.startswith("dali_core-")]
    if len(ours) != 1:
        found = ", ".join(file.name for file in files) or "no wheels"
        fail(f"{folder} must have one wheel of dali_core (found {found}). See README.md.")
    tag = re.search(r"-cp(\d)(\d+)-cp", ours[0].name)
    if tag and (int(tag[1]), int(tag[2])) != sys.version_info[:2]:
        fail(
            f"{ours[0].name} is for Python {tag[1]}.{tag[2]} (this is {platform.python_version()}, "
            f"{sys.executable}). Start this program with that Python, or carry another wheel."
        )
    for name in ("nvidia_nvimgcodec_cu", "nvidia_nvjpeg"):
        if not any(file.name.startswith(name) for file in files):
            print(f"No wheel of {name} was carried: the device will not decode images.")


def arrange_nvidia(packages: Path) -> None:
    """Arrange the carried packages of NVIDIA so that they hide none of the installed ones.

    JAX looks for CUDA in the first `nvidia/cu13` of the path alone, so nvJPEG cannot stay there;
    nvImageCodec also looks for it in a folder of its own.
    """
    nvidia = packages / "nvidia"
    if not nvidia.is_dir():
        return
    libraries = list(nvidia.glob("cu*/lib/libnvjpeg.so*"))
    if libraries and (nvidia / "nvimgcodec").is_dir():
        beside = nvidia / "nvimgcodec" / ".libs"
        beside.mkdir(exist_ok=True)
        for library in libraries:
            library.replace(beside / library.name)
            shutil.rmtree(nvidia / library.parents[1].name, ignore_errors=True)
    (nvidia / "__init__.py").write_text(NAMESPACE)


# Steps


def command_of(step: str, results: Path, quick: bool) -> list[str]:
    """Return the command of a step."""
    if step in MEASUREMENTS:
        command = [sys.executable, "-m", "benchmarks.gpu", *MEASUREMENTS[step]]
        return [*command, "--results", str(results / "benchmarks"), *["--quick"] * quick]
    files = [f"tests/gpu/test_{name}.py" for name in TESTS[step]]
    command = [sys.executable, *PYTEST, "-m", "gpu", *files]
    # Only one step: the sanitizer makes everything many times slower.
    sanitizer = shutil.which(SANITIZER) if step == "order" else None
    return [sanitizer, *SANITIZER_OPTIONS, *command] if sanitizer else command


def describe() -> list[str]:
    """Return the file of the library that is imported, the device, and why there is none."""
    done = subprocess.run(
        [sys.executable, "-c", DESCRIBE],
        cwd=PACKAGES / "checkout",
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        fail(f"the carried library must be importable:\n{done.stderr.strip()}")
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    if not Path(found[0]).is_relative_to(PACKAGES):
        fail(f"the library must come from {PACKAGES} (got {found[0]}). Install again.")
    return found


class Output:
    """What a command prints: shown, written to a file, and the end of it kept."""

    def __init__(self, path: Path) -> None:
        self.kept = ""
        self.problem = ""
        self._path = path
        self._file = path.open("w", encoding="utf-8")

    def add(self, text: str) -> None:
        """Take a part; a full disk does not end the command."""
        sys.stdout.write(text)
        sys.stdout.flush()
        self.kept = (self.kept + text)[-KEPT_CHARACTERS:]
        if not self.problem:
            try:
                self._file.write(text)
                self._file.flush()
            except OSError as error:
                self.problem = f"{self._path} is incomplete: {error}"

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            self.problem = self.problem or f"{self._path} is incomplete: {error}"


def run_command(command: Sequence[str], output: Output, seconds: float) -> int:
    """Run a command in the copied checkout; end it and its children when its time is over."""
    deadline = time.monotonic() + seconds
    signals: list[str] = []

    def remember(number: int, frame: FrameType | None) -> None:
        signals.append(signal.Signals(number).name)

    before = {number: signal.signal(number, remember) for number in (SIGINT, SIGTERM)}
    try:
        process = subprocess.Popen(
            command,
            cwd=PACKAGES / "checkout",
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        is_done = _follow(process, output, lambda: signals or time.monotonic() > deadline)
        status = process.wait() if is_done else TIMED_OUT
        if signals:
            output.add(f"\nThe step was interrupted ({signals[0]}).\n")
            status = INTERRUPTED
        elif not is_done:
            output.add(f"\nThe step was ended after {seconds:.0f} seconds.\n")
        _end(process)
        return status
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _follow(
    process: subprocess.Popen[bytes], output: Output, is_over: Callable[[], object]
) -> bool:
    """Pass on what a process prints until it ends; return False if its time is over before."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not is_over():
            if selector.select(0.5):
                part = os.read(process.stdout.fileno(), 1 << 16)
                output.add(part.decode("utf-8", errors="replace"))
                if not part:
                    return _has_ended(process, is_over)
            elif process.poll() is not None:  # children that it has left have its pipe
                return True
    return False


def _has_ended(process: subprocess.Popen[bytes], is_over: Callable[[], object]) -> bool:
    while process.poll() is None and not is_over():
        time.sleep(0.05)
    return process.poll() is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (SIGTERM, SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(SECONDS_TO_END)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
    if process.stdout:
        process.stdout.close()


def run_step(step: str, results: Path, seconds: float, quick: bool) -> int:
    """Run a step and record it; return its exit status."""
    if not (PACKAGES / "checkout").is_dir():
        fail(f"`first_run.py install WHEELS` must come first (there is no {PACKAGES}).")
    try:
        results.mkdir(parents=True, exist_ok=True)
        output = Output(results / f"{step}.log")
    except OSError as error:
        fail(f"{results} must be a folder that can be written (got {error}). Use --results.")
    _, device, reason = describe()
    command = command_of(step, results, quick)
    begin = time.monotonic()
    output.add(f"{shlex.join(command)}\n")
    if device:
        status = run_command(command, output, seconds)
    else:
        output.add(f"There must be a GPU (got {reason}). Is the driver installed?\n")
        status = 2
    output.close()
    lines = output.kept.strip().splitlines()
    record = {
        "step": step,
        "device": device or f"none ({reason})",
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "command": command,
        "exit_status": status,
        "seconds": round(time.monotonic() - begin, 1),
        "summary": lines[-1] if lines else "",
        "printed": output.kept,
    }
    return status if save(record, results / f"{step}.json", output.problem) else status or 2


def save(record: dict[str, Any], path: Path, problem: str) -> bool:
    """Write the record of a step, or print all of it where that fails; return whether it worked."""
    try:
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        problem = f"{path} cannot be written: {error}"
        print(json.dumps(record))
    if problem:
        free = free_megabytes(path.parent)
        print(f"first_run.py: {problem} ({free} MB are free). Use --results.", file=sys.stderr)
    shown = ("step", "device", "exit_status", "seconds", "summary")
    print(json.dumps({key: record[key] for key in shown}))
    return not problem


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="first_run.py", description=__doc__)
    commands = parser.add_subparsers(dest="step", required=True, metavar="install or a step")
    first = commands.add_parser("install", help="unpack the carried wheels")
    first.add_argument("wheels", type=Path, help="the folder of wheels")
    for name in STEPS:
        step = commands.add_parser(name, help="a step")
        step.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER")
        step.add_argument("--seconds", type=float, default=SECONDS, help="limit (%(default)s)")
        step.add_argument("--quick", action="store_true", help="measure next to nothing")
    options = parser.parse_args()
    try:
        if options.step == "install":
            install(options.wheels)
            return 0
        return run_step(options.step, options.results.resolve(), options.seconds, options.quick)
    except KeyboardInterrupt:
        print(f"first_run.py: {options.step} was interrupted.", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
