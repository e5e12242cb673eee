"""Builds the fuzz targets and runs them: ``python -m tests.fuzz.build_and_run --seconds 60``.

Each ``*.cpp`` of this folder but ``standalone.cpp`` is a target: a program with the function that
libFuzzer calls. With clang that is what runs it; with other compilers it is ``standalone.cpp``,
which is guided by coverage as well. Both are built with AddressSanitizer and UBSan. The corpus is
made here, never stored. The input of a failure is kept in the folder given by ``--save``.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz.small_images import all_images, jpegs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DECODERS = ROOT / "dali_core" / "operators" / "decoders"
DRIVER = HERE / "standalone.cpp"
UNDER_TEST = [
    *(
        DECODERS / f"{name}.cpp"
        for name in (
            *("image_format", "jpeg_cost", "jpeg_decoder", "jpeg_header", "jpeg_segments"),
            *("libjpeg_session", "pixel_writer", "png_check"),
        )
    ),
    # What the writer of pixels converts with.
    DECODERS.parent / "cast" / "convert_elements.cpp",
    DECODERS.parent / "full" / "fill_elements.cpp",
]
TARGETS = sorted(path.stem for path in HERE.glob("*.cpp") if path != DRIVER)
SANITIZERS = "address,undefined"
ENVIRONMENT = {
    "ASAN_OPTIONS": "handle_abort=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def compiler() -> list[str]:
    """Give the command of the C++ compiler."""
    return shlex.split(os.environ.get("CXX", "g++"))


def has_libfuzzer() -> bool:
    """Say whether the compiler can build a target with libFuzzer."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text(
            "#include <cstddef>\n#include <cstdint>\n"
            'extern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t) { return 0; }\n'
        )
        command = [*compiler(), f"-fsanitize=fuzzer,{SANITIZERS}", str(source)]
        command += ["-o", str(Path(folder, "probe"))]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def libjpeg_flags() -> list[str]:
    """Give what compiling and linking needs for libjpeg-turbo; nothing if it is not there."""
    query = ["pkg-config", "--cflags", "--libs", "libjpeg >= 1.5"]
    try:
        found = subprocess.run(query, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return [*found.stdout.split(), "-DDALI_CORE_HAVE_LIBJPEG=1"] if found.returncode == 0 else []


def build(folder: Path, targets: Sequence[str] = TARGETS) -> dict[str, Path]:
    """Compile targets, and give their programs."""
    libjpeg = libjpeg_flags()
    flags = ["-std=c++17", "-g1", "-O1", "-Wall", "-Wextra", "-fno-omit-frame-pointer"]
    flags += ["-fno-sanitize-recover=all", f"-I{ROOT}", f"-I{ROOT / 'dali_core' / 'include'}"]
    flags += [flag for flag in libjpeg if not flag.startswith(("-l", "-L"))]
    link = [flag for flag in libjpeg if flag.startswith(("-l", "-L"))]
    guided = has_libfuzzer()
    sanitize = [f"-fsanitize={SANITIZERS}"]
    coverage = ["-fsanitize=fuzzer-no-link" if guided else "-fsanitize-coverage=trace-pc"]

    def compile_one(source: Path) -> Path:
        target = folder / f"{source.stem}_of_{source.parent.name}.o"
        extra = [] if source == DRIVER else coverage
        command = [*compiler(), *flags, *sanitize, *extra, "-c", str(source), "-o", str(target)]
        subprocess.run(command, check=True)
        return target

    drivers = [] if guided else [DRIVER]
    sources = [*UNDER_TEST, *drivers, *(HERE / f"{target}.cpp" for target in targets)]
    with ThreadPoolExecutor(2) as pool:
        objects = dict(zip(sources, pool.map(compile_one, sources), strict=True))
    programs = {}
    for target in targets:
        programs[target] = folder / target
        parts = [objects[path] for path in (*UNDER_TEST, *drivers, HERE / f"{target}.cpp")]
        driver = ["-fsanitize=fuzzer"] if guided else []
        command = [*compiler(), *sanitize, *driver, *map(str, parts), *link]
        subprocess.run([*command, "-o", str(programs[target])], check=True)
    return programs


def write_corpus(folder: Path, target: str) -> Path:
    """Make the files that a target starts from."""
    folder.mkdir(parents=True, exist_ok=True)
    if target == "jpeg":
        # In front of a file are eight settings: colours, type, orientation, transform, region.
        for number, (name, file) in enumerate(jpegs().items()):
            settings = bytes([number % 5, number % 8, 1, number % 2, 40, 90, 128, 200])
            (folder / name).write_bytes(settings + file)
    elif target == "pixel_writer":
        for number in range(64):
            settings = bytes(number * factor % 251 for factor in (1, 3, 5, 7, 11, 13, 17))
            (folder / str(number)).write_bytes(settings + bytes(range(256)))
    else:
        for name, file in all_images().items():
            (folder / name).write_bytes(file)
    return folder


def run(
    program: Path, corpus: Path, seconds: float, save: Path, seed: int = 1
) -> subprocess.CompletedProcess[str]:
    """Run a target on a corpus, then on mutations of it for some time."""
    if has_libfuzzer():
        limits = [f"-max_total_time={max(1, round(seconds))}", f"-seed={seed}", "-timeout=20"]
        command = [str(program), *limits, f"-artifact_prefix={save}/", str(corpus)]
    else:
        command = [str(program), "-seconds", str(seconds), "-seed", str(seed)]
        command += ["-save", str(save), str(corpus)]
    return subprocess.run(
        command,
        env=os.environ | ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=seconds + 300,
    )


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="time for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=Path, default=Path.cwd(), help="where failures are kept")
    parser.add_argument("targets", nargs="*", default=TARGETS, help=f"among {', '.join(TARGETS)}")
    arguments = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        programs = build(Path(folder), arguments.targets)
        for target, program in programs.items():
            corpus = write_corpus(Path(folder, "corpus", target), target)
            result = run(program, corpus, arguments.seconds, arguments.save, arguments.seed)
            print(f"== {target}: exit {result.returncode}\n{result.stdout[-4000:]}", flush=True)
            status = status or result.returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
