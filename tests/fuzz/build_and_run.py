"""Builds the fuzz targets and runs them: ``python -m tests.fuzz.build_and_run --seconds 60``.

Each ``*.cpp`` of this folder but ``standalone.cpp`` is a target: a program with the function that
libFuzzer calls. With clang that is what runs it; with other compilers it is ``standalone.cpp``,
which is guided by coverage as well. Both are built with AddressSanitizer and UBSan. The corpus is
made here, never stored. The input of a failure is kept in the folder given by ``--save``.
"""

from __future__ import annotations

import argparse
import functools
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.compiled_programs import (
    INCLUDES,
    KERNELS,
    NATIVE_IO,
    SANITIZERS,
    VOCABULARY,
    WHOLE_ENGINE,
    compiler,
    link_program,
    operator_flags,
)
from tests.fuzz import record_files
from tests.fuzz.small_images import all_images, jpegs
from tests.fuzz.sound_headers import sound_headers
from tests.hanging import HANG_SECONDS
from tests.npy_files import array_of, npy

HERE = Path(__file__).resolve().parent
DRIVER = HERE / "standalone.cpp"
UNDER_TEST = [
    *(
        NATIVE_IO / f"{name}.cpp"
        for name in (
            "image_decoding/image_format",
            "image_decoding/png_check",
            "image_decoding/stored_orientation",
        )
    ),
    *sorted((KERNELS / "jpeg").glob("*.cpp")),
    *sorted((NATIVE_IO / "libjpeg").glob("*.cpp")),
    *sorted((KERNELS / "encoded_image").glob("*.cpp")),
    # What planes of a JPEG are resampled by.
    *(
        KERNELS / "resample" / f"{name}.cpp"
        for name in ("resample", "resample_kernels", "resample_taps")
    ),
    # The conversion used by the pixel writer.
    KERNELS / "convert" / "convert_elements.cpp",
    KERNELS / "fill" / "fill_elements.cpp",
    *sorted((NATIVE_IO / "npy").glob("*.cpp")),
]
# What only one target needs.
_SOUND_HEADERS = [
    NATIVE_IO / "sound" / f"{name}.cpp"
    for name in ("mpeg_frames", "ogg_links", "sound_bytes", "sound_layout", "sound_tags")
]
UNDER_TEST_OF = {
    "sound": [
        *_SOUND_HEADERS,
        *(
            NATIVE_IO / "sound" / f"{name}.cpp"
            for name in ("decode_sound", "sound_file", "sound_library")
        ),
        KERNELS / "audio" / "resampling.cpp",
    ],
    "sound_headers": _SOUND_HEADERS,
}
# The program stands for libsndfile, which is loaded at run time.
LINK_FLAGS_OF = {"sound": ["-rdynamic", "-ldl"]}
TARGETS = sorted(path.stem for path in HERE.glob("*.cpp") if path != DRIVER)
ENVIRONMENT = {
    "ASAN_OPTIONS": "handle_abort=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


@functools.cache
def has_libfuzzer() -> bool:
    """Whether the compiler can build a target with libFuzzer."""
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
    """Return the compiler and linker flags for libjpeg-turbo; empty if it is not installed."""
    query = ["pkg-config", "--cflags", "--libs", "libjpeg >= 1.5"]
    try:
        found = subprocess.run(query, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return (
        [*shlex.split(found.stdout), "-DDALI_CORE_HAVE_LIBJPEG=1"] if found.returncode == 0 else []
    )


def build(target: str, optimization: str = "-O1") -> Path:
    """Compile a target, and return its program."""
    libjpeg = libjpeg_flags()
    link = [flag for flag in libjpeg if flag.startswith(("-l", "-L"))]
    sanitize = [f"-fsanitize={SANITIZERS}"]
    flags = ["-std=c++17", "-g1", optimization, "-Wall", "-Wextra", "-fno-omit-frame-pointer"]
    flags += sanitize
    flags += ["-fno-sanitize-recover=all", *INCLUDES]
    flags += [flag for flag in libjpeg if flag not in link]
    link_flags = [*link, *LINK_FLAGS_OF.get(target, ())]
    guided = has_libfuzzer()
    observed = [*flags, "-fsanitize=fuzzer-no-link" if guided else "-fsanitize-coverage=trace-pc"]
    sources = [*UNDER_TEST, *UNDER_TEST_OF.get(target, ()), HERE / f"{target}.cpp"]
    # What carries the data need not guide; it is compiled as for other tests.
    carrying = WHOLE_ENGINE if target == "sound" else VOCABULARY
    flags_of = {
        **dict.fromkeys(sources, observed),
        **dict.fromkeys(carrying, operator_flags(sanitize=True)),
    }
    if guided:
        return link_program(target, flags_of, [*sanitize, "-fsanitize=fuzzer", *link_flags])
    return link_program(target, {**flags_of, DRIVER: flags}, [*sanitize, *link_flags])


def write_corpus(folder: Path, target: str) -> Path:
    """Create the initial corpus of a target."""
    folder.mkdir(parents=True, exist_ok=True)
    if target in ("jpeg", "huffman_jpeg"):
        # A file is preceded by nine settings: colours, type, orientation, transform, size, region.
        for number, (name, file) in enumerate(jpegs().items()):
            for size in range(4):
                settings = [number % 5, number % 8, 1, number % 2, size, 40, 90, 128, 200]
                (folder / f"{name} {size}").write_bytes(bytes(settings) + file)
    elif target in record_files.CORPUS:
        for number, file in enumerate(record_files.CORPUS[target]()):
            (folder / str(number)).write_bytes(file)
    elif target == "pixel_writer":
        for number in range(64):
            settings = bytes(number * factor % 251 for factor in (1, 3, 5, 7, 11, 13, 17))
            (folder / str(number)).write_bytes(settings + bytes(range(256)))
    elif target == "sound":
        for number in range(128):
            settings = bytes(number * factor % 251 for factor in range(1, 40))
            (folder / str(number)).write_bytes(settings)
    elif target == "sound_headers":
        for number, file in enumerate(sound_headers()):
            (folder / str(number)).write_bytes(file)
    elif target == "npy":
        for number in range(64):
            (folder / str(number)).write_bytes(npy(array_of(number)))
    else:
        for name, file in all_images().items():
            (folder / name).write_bytes(file)
    return folder


def run(
    program: Path, corpus: Path, seconds: float, save: Path, seed: int = 1
) -> subprocess.CompletedProcess[str]:
    """Run a target on a corpus, then on mutations of it for some time."""
    if has_libfuzzer():
        limits = [f"-max_total_time={max(1, round(seconds))}", f"-seed={seed}", "-timeout=120"]
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
        timeout=seconds + HANG_SECONDS,
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
        for target in arguments.targets:
            program = build(target)
            corpus = write_corpus(Path(folder, "corpus", target), target)
            result = run(program, corpus, arguments.seconds, arguments.save, arguments.seed)
            print(f"== {target}: exit {result.returncode}\n{result.stdout[-4000:]}", flush=True)
            status = status or result.returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
