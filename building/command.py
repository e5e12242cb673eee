"""The step of `setup.py` that builds everything native, with Ninja."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ninja
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

from building import cubins, toolchain
from building.cuda_compilers import CubinError, find_compilers
from building.extensions import CUBINS as PACKAGED_CUBINS
from building.extensions import VIDEO_PROGRAM, find_codecs, find_modules, video_worker_sources
from building.ninja_file import BUILD, CUBINS, NinjaFile, link_headers, name_of

ROOT = Path(__file__).parents[1]
# Finished steps of all, and seconds since the start.
STATUS = "[%f/%t, %e s] "


class BuildWithNinja(build_ext):
    """Writes a build file and has Ninja carry it out."""

    def run(self) -> None:
        """Build all modules, and put device code beside them."""
        self._with_cubins = False
        self._video_worker: Path | None = None
        super().run()
        root = Path() if self.inplace else Path(self.build_lib)
        with (BUILD / "lock").open("w") as lock:
            _wait_for(lock.fileno())
            _mirror(CUBINS if self._with_cubins else None, root / PACKAGED_CUBINS)
            _put(self._video_worker, root / VIDEO_PROGRAM)

    def build_extensions(self) -> None:
        """Build what has changed."""
        toolchain.check_compiler()
        try:
            self._with_cubins = find_compilers() is not None
        except CubinError as error:
            raise CompileError(str(error)) from error
        cuda = toolchain.cuda_headers()
        ffmpeg = toolchain.ffmpeg() if video_worker_sources() else None
        codecs = find_codecs()
        modules = find_modules(with_cuda=cuda is not None, codecs=codecs)
        BUILD.mkdir(exist_ok=True)
        with (BUILD / "lock").open("w") as lock:
            _wait_for(lock.fileno())
            headers = link_headers(codecs, cuda)
            name = name_of(modules)
            file = NinjaFile()
            file.add_translations(modules)
            made = {}
            for module in modules:
                target = Path(self.get_ext_fullpath(module.name))
                linked = made[target.absolute()] = BUILD / "modules" / name / f"{module.name}.so"
                file.add_module(module, linked, codecs, headers)
            if ffmpeg is not None:
                self._video_worker = BUILD / "programs" / name / VIDEO_PROGRAM.name
                file.add_video_worker(self._video_worker, *ffmpeg)
            if self._with_cubins:
                file.add_cubins(ROOT)
            build_file = BUILD / f"{name}.ninja"
            build_file.write_text(file.text(), encoding="utf-8")
            _run_ninja(build_file)
            # Modules that an earlier build with CUDA has left would be packaged as well.
            for path in Path(self.build_lib).glob("dali_core/_*/*.so"):
                if path.absolute() not in made:
                    path.unlink()
            for target, linked in made.items():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(linked, target)


def _wait_for(lock: int) -> None:
    """Lock the build folder: Ninja does not notice another Ninja that writes the same files."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Waiting for another build in this folder.", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)


def _run_ninja(build_file: Path) -> None:
    command = [str(Path(ninja.BIN_DIR, "ninja")), "-f", str(build_file)]
    command += ["-j", os.environ.get("MAX_JOBS") or str(len(os.sched_getaffinity(0)))]
    # The caller may have a variable PYTHON of another meaning, as `make PYTHON=` does.
    environment = {"NINJA_STATUS": STATUS, **os.environ, "PYTHON": sys.executable}
    sys.stdout.flush()
    status = subprocess.run(command, env=environment, check=False).returncode
    if status != 0:
        free = shutil.disk_usage(BUILD).free >> 20
        raise CompileError(
            f"building dali_core failed (Ninja ended with status {status}; {free} MB of disk are "
            f"free). What failed is said above; with pip, add -v to see it."
        )


def _put(program: Path | None, target: Path) -> None:
    """Copy a program to where it is started from; remove that if there is no program."""
    target.unlink(missing_ok=True)  # it may be running
    if program:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(program, target)


def _mirror(source: Path | None, target: Path) -> None:
    """Make a folder have the compiled device code and nothing else; none if there is no source."""
    wanted = {}
    if source:
        stems = {path.stem for path in cubins.find_sources(ROOT)}
        names = [cubins.KERNELS, *(name for stem in stems for name in cubins.outputs(stem))]
        wanted = {name: source / name for name in names}
        target.mkdir(parents=True, exist_ok=True)
    for file in list(target.iterdir()) if target.is_dir() else ():
        if file.name not in wanted:
            file.unlink()
    for name, file in wanted.items():
        if not (target / name).is_file() or (target / name).read_bytes() != file.read_bytes():
            shutil.copy2(file, target / name)
