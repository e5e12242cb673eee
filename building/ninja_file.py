"""Writes what Ninja is to do: Cython to C++, C++ to objects, objects to modules, cubins.

Objects do not depend on the version of Python unless they include its headers, and nothing depends
on where an isolated build has put the packages that it needs: their headers are reached through
links (`build/headers/<package>-<version>`), and programs through the variable PYTHON. So all
builds in a checkout share what they can. Folders are named by what their objects depend on.
"""

from __future__ import annotations

import hashlib
import io
import shlex
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from ninja.ninja_syntax import Writer

from building import cubins, cuda_compilers, toolchain
from building.extensions import (
    CUDA,
    CUDA_PROFILER,
    CUDA_RUNTIME,
    INCLUDES,
    RUNTIME,
    Codecs,
    Module,
    Unit,
    video_worker_sources,
    vocabulary_sources,
)
from building.run_cython import target_of
from building.units import write_unit

BUILD = Path("build")
CUBINS = BUILD / "cubins"
HEADERS = BUILD / "headers"
UNITS = BUILD / "units"
TRANSLATED = BUILD / "cython"
# So few that a changed module is translated in seconds.
MOST_TRANSLATED_AT_ONCE = 5
# Most sources begin with these: they are read once, and not for each source.
PRECOMPILED = RUNTIME / "engine" / "precompiled.hpp"
# C++ that Cython generates begins with these.
PRECOMPILED_OF_CYTHON = RUNTIME / "engine" / "precompiled_with_python.hpp"


class NinjaFile:
    """The text of a build file, as it is put together."""

    def __init__(self) -> None:
        self._text = io.StringIO()
        self._writer = Writer(self._text, width=1_000_000)
        self._objects: dict[tuple[Path, str], Path] = {}
        self._precompiled: set[Path] = set()
        self._vocabulary: Path | None = None
        self._writer.variable("builddir", str(BUILD))
        python = '"$$PYTHON" -B'
        # The versions are there so that a new one builds again.
        versions = f"Cython {toolchain.version_of('cython')}"
        self._writer.rule(
            "cython",
            f"{python} -m building.run_cython --into {TRANSLATED} $in && : {versions}",
            description="Cython $in",
            depfile="$first.d",
            restat=True,
        )
        compiler = shlex.join(toolchain.compiler())
        self._writer.rule(
            "compile",
            f"{compiler} $flags -c $in -o $out -MMD -MF $out.d",
            description="C++ $in",
            depfile="$out.d",
        )
        self._writer.rule(
            "precompile",
            f"{compiler} $flags -x c++-header $in -o $out -MMD -MF $out.d",
            description="headers $in",
            depfile="$out.d",
        )
        self._writer.rule(
            "archive",
            "rm -f $out && ar rcs $out $in",
            description="archive $out",
        )
        # The list of objects is too long for some shells.
        self._writer.rule(
            "link",
            f"{compiler} -shared @$out.objects -o $out $flags",
            description="link $out",
            rspfile="$out.objects",
            rspfile_content="$in",
        )
        self._writer.rule(
            "link_program",
            f"{compiler} $in -o $out $flags",
            description="link $out",
        )
        names = (cuda_compilers.NVRTC, cuda_compilers.PTXAS)
        versions = f"{[toolchain.version_of(name) for name in names]} {cubins.OPTIONS}"
        self._writer.rule(
            "cubins",
            f"{python} -m building.cubins $in {CUBINS} && : {shlex.quote(versions)}",
            description="CUDA $in",
            depfile=f"{CUBINS}/$stem.d",
        )
        self._writer.rule(
            "kernels",
            f"{python} -m building.cubins --list {CUBINS}",
            description="list of kernels",
        )

    def add_cubins(self, root: Path) -> None:
        """Add all modules of device code, and the list of their kernels."""
        tables = []
        for source in cubins.find_sources(root):
            made = [str(CUBINS / name) for name in cubins.outputs(source.stem)]
            self._writer.build(
                made,
                "cubins",
                str(source.relative_to(root)),
                implicit=["building/cubins.py", "building/cuda_compilers.py"],
                variables={"stem": source.stem},
            )
            tables.append(made[-1])
        self._writer.build(str(CUBINS / cubins.KERNELS), "kernels", implicit=tables)

    def add_translations(self, modules: Iterable[Module]) -> None:
        """Add the translation of modules, several of a folder at a time, to C++."""
        by_folder: dict[Path, list[Path]] = {}
        for module in modules:
            by_folder.setdefault(module.cython.parent, []).append(module.cython)
        for sources in by_folder.values():
            count = -(-len(sources) // MOST_TRANSLATED_AT_ONCE)
            for together in (sources[part::count] for part in range(count)):
                made = [str(target_of(source, TRANSLATED)) for source in together]
                self._writer.build(
                    made,
                    "cython",
                    [str(source) for source in together],
                    implicit="building/run_cython.py",
                    variables={"first": made[0]},
                )

    def add_module(self, module: Module, target: Path, codecs: Codecs, headers: list[Path]) -> None:
        """Add a module of Python whose translation was added, to be linked at `target`."""
        translated = target_of(module.cython, TRANSLATED)
        flags = toolchain.compile_flags(toolchain.cython_level())
        flags += [f"-I{folder}" for folder in INCLUDES]
        flags += [f"-isystem {shlex.quote(str(toolchain.python_include()))}"]
        precompiled = self._precompile(flags, PRECOMPILED_OF_CYTHON)
        if module.uses_cuda:
            flags += [f"-I{CUDA}", *(f"-isystem {folder}" for folder in headers)]
        objects = [self._compile(translated, flags, precompiled)]
        objects += [self._compile_native(unit, codecs) for unit in module.native]
        objects.append(self._archive_vocabulary(codecs))
        flags = [*toolchain.link_flags(), *module.libraries]
        self._writer.build(
            str(target),
            "link",
            [str(each) for each in objects],
            variables={"flags": " ".join(flags)},
        )

    def add_video_worker(self, target: Path, compiling: list[str], linking: list[str]) -> None:
        """Add the program that decodes videos, to be linked at `target`."""
        # Headers of other projects are as they are: no warnings for these.
        found = [flag.replace("-I", "-isystem ", 1) for flag in compiling]
        includes = [f"-I{folder}" for folder in INCLUDES]
        flags = [*toolchain.compile_flags("-O2"), *includes, *found]
        objects = [str(self._compile(source, flags)) for source in video_worker_sources()]
        flags = [*toolchain.link_flags(), *linking, "-ldl"]
        self._writer.build(
            str(target), "link_program", objects, variables={"flags": " ".join(flags)}
        )

    def text(self) -> str:
        """Return what was put together."""
        return self._text.getvalue()

    def _archive_vocabulary(self, codecs: Codecs) -> Path:
        """Archive the definitions of shared types, of which a module links what it uses."""
        if self._vocabulary is None:
            units = [Unit(source.stem, (source,)) for source in vocabulary_sources()]
            objects = [self._compile_native(unit, codecs) for unit in units]
            self._vocabulary = objects[0].parent / "vocabulary.a"
            self._writer.build(str(self._vocabulary), "archive", [str(each) for each in objects])
        return self._vocabulary

    def _compile_native(self, unit: Unit, codecs: Codecs) -> Path:
        flags = [*toolchain.compile_flags("-O3"), toolchain.ALIGN_LOOPS]
        flags += [f"-I{folder}" for folder in INCLUDES]
        source = unit.sources[0]
        of_codecs = codecs.flags_of(source)
        if len(unit.sources) > 1:
            source = (UNITS / unit.name).with_suffix(".cpp")
            write_unit(source, unit.sources)
        if of_codecs is None:
            return self._compile(source, flags, self._precompile(flags, PRECOMPILED))
        headers = [f"-isystem {link_of(package)}" for package in codecs.headers]
        return self._compile(source, [*flags, *of_codecs, *headers])

    def _precompile(self, flags: list[str], header: Path) -> Path | None:
        """Have a header precompiled, if the compiler is GCC, and return where it then is."""
        if not toolchain.is_gcc():
            return None
        joined = " ".join(flags)
        target = _folder(joined) / f"{header.name}.gch"
        if target not in self._precompiled:
            self._precompiled.add(target)
            self._writer.build(str(target), "precompile", str(header), variables={"flags": joined})
        return target

    def _compile(self, source: Path, flags: Iterable[str], precompiled: Path | None = None) -> Path:
        if precompiled:
            flags = [*flags, f"-include {precompiled.with_suffix('')}"]
        joined = " ".join(flags)
        key = (source, joined)
        if key not in self._objects:
            target = _folder(joined) / source.with_suffix(".o")
            self._objects[key] = target
            self._writer.build(
                str(target),
                "compile",
                str(source),
                implicit=str(precompiled) if precompiled else None,
                variables={"flags": joined},
            )
        return self._objects[key]


def name_of(modules: list[Module]) -> str:
    """Name a build by the version of Python, the modules and the flags."""
    tag = sysconfig.get_config_var("SOABI") or sysconfig.get_platform()
    content = f"{[module.name for module in modules]}{toolchain.compile_flags('-O3')}"
    return f"{tag}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def link_headers(codecs: Codecs, cuda: list[Path] | None) -> list[Path]:
    """Link folders of headers to where the flags name them; return those for CUDA's modules."""
    folders = dict(codecs.headers)
    if cuda is not None:
        folders |= dict(zip((CUDA_RUNTIME, CUDA_PROFILER), cuda, strict=True))
    for package, folder in folders.items():
        link = link_of(package)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(folder.absolute(), target_is_directory=True)
    return [link_of(package) for package in (CUDA_RUNTIME, CUDA_PROFILER)] if cuda else []


def link_of(package: str) -> Path:
    """Return where the headers of a package are reached."""
    return HEADERS / f"{package}-{toolchain.version_of(package)}"


def _folder(flags: str) -> Path:
    content = f"{shlex.join(toolchain.compiler())} {flags}"
    return BUILD / "objects" / hashlib.sha256(content.encode()).hexdigest()[:8]
