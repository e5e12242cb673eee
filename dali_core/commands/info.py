"""``dali-core info``: what is installed, what decodes what, and what is missing."""

from __future__ import annotations

import argparse
import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distributions, entry_points, version
from pathlib import Path
from typing import Any

from dali_core._extras import install_command
from dali_core.commands._options import add_report_options, processors, write_report

EXTRAS = {
    "arrow": ("pyarrow",),
    "audio": ("soundfile",),
    "check": ("matplotlib", "tqdm"),
    "completion": ("shtab",),
    "cloudpickle": ("cloudpickle",),
    "cuda": ("cuda-bindings",),
    "dicom": ("pillow",),
    "fits": ("astropy",),
    "hdf5": ("h5py", "isal"),
    "jax": ("jax",),
    "lance": ("pylance", "pyarrow"),
    "mds": ("zstandard",),
    "metrics": ("prometheus-client", "opentelemetry-api"),
    "nifti": ("isal",),
    "numba": ("numba",),
    "nvtx": ("nvtx",),
    "nvjpeg": ("cuda-bindings", "nvidia-nvjpeg-cu12"),
    "nvvideo": ("cuda-bindings", "PyNvVideoCodec", "av"),
    "paddle": ("paddlepaddle",),
    "pytorch": ("torch",),
    "ray": ("ray",),
    "remote": ("obstore", "fsspec"),
    "report": ("jinja2", "pillow"),
    "tensorflow": ("tensorflow",),
    "text": ("tokenizers", "zstandard"),
    "video": ("av",),
    "zarr": ("numcodecs", "zstandard", "google-crc32c", "isal"),
}
"""What each extra of the package installs."""

_FRAMEWORKS = {
    "paddle": "paddlepaddle",
    "pytorch": "torch",
}  # distributions of adapters' frameworks with other names
_OF_CUDA = re.compile(r"(nvidia-.*-cu\d+|nvidia-nvjpeg|cuda-.*|pynvvideocodec)", re.IGNORECASE)
_OF_CUDA_13 = {
    "nvidia-nvimgcodec-cu12": "nvidia-nvimgcodec-cu13",
    "nvidia-nvjpeg-cu12": "nvidia-nvjpeg",
}  # what is used as well
_DRIVER = Path("/proc/driver/nvidia/version")


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser = parsers.add_parser(
        "info",
        help="describe this installation and this machine",
        description="Describe this installation and this machine: versions, what decodes which "
        "format, processors, GPUs, and what is missing with the command that installs it.",
    )
    add_report_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the description."""
    described = describe()
    write_report(options, described, _lines(described))
    return 0


def describe() -> dict[str, Any]:
    """Return everything that the command prints, in the form of JSON."""
    return {
        "versions": {
            "dali_core": _own_version(),
            "python": platform.python_version(),
            "numpy": _version("numpy"),
        },
        "adapters": _adapters(),
        "codecs": _codecs(),
        "machine": _machine(),
        "gpu": _gpu(),
        "cuda_packages": _cuda_packages(),
        "missing": _missing(),
    }


def _own_version() -> str:
    import dali_core

    return dali_core.__version__


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _version_for(package: str) -> str | None:
    """Return the version of a package, or of the one for CUDA 13."""
    other = _OF_CUDA_13.get(package)
    return _version(package) or (_version(other) if other else None)


def _adapters() -> list[dict[str, str | None]]:
    found = []
    for entry in sorted(entry_points(group="dali_core.adapters"), key=lambda entry: entry.name):
        framework = _FRAMEWORKS.get(entry.name, entry.name)
        found.append(
            {
                "name": entry.name,
                "module": entry.module,
                "framework": framework,
                "framework_version": _version(framework),
            }
        )
    return found


def _codecs() -> dict[str, list[str]]:
    """Return what decodes each format, in the order in which it is tried."""
    from dali_core._runtime.native_code import has_libjpeg
    from dali_core.errors import DaliCoreError
    from dali_core.operators.decoders.audio.library import library_arguments
    from dali_core.operators.decoders.backends import JPEG_VARIABLE, backend_arguments
    from dali_core.operators.video.backends import native_worker, worker_command

    by_nvimgcodec = []
    if "codec_library" in backend_arguments():
        by_nvimgcodec = [f"nvImageCodec {_version_for('nvidia-nvimgcodec-cu12') or ''}".rstrip()]
    wanted = os.environ.get(JPEG_VARIABLE, "")
    by_library = ["libjpeg-turbo"] if has_libjpeg() else by_nvimgcodec
    chosen = {
        "": ["dali_core", *by_library],
        "own": ["dali_core"],
        "libjpeg": ["libjpeg-turbo"] if has_libjpeg() else [],
        "nvimgcodec": by_nvimgcodec,
    }
    found: dict[str, list[str]] = {"JPEG": chosen.get(wanted, [])}
    for name in ("PNG", "BMP", "TIFF", "WebP", "PNM", "JPEG 2000"):
        found[name] = by_nvimgcodec
    found["NumPy"] = ["dali_core"]
    try:
        library_arguments()
        bundled = _version("soundfile")
        by_sndfile = [f"libsndfile of soundfile {bundled}" if bundled else "libsndfile"]
    except DaliCoreError:
        by_sndfile = []
    found["audio"] = by_sndfile
    command = worker_command("frames")
    is_native = bool(command) and command[0] == str(native_worker())
    by_worker = [f"FFmpeg of PyAV {_version('av')}"] if command else []
    found["video"] = ["FFmpeg, found at build time"] if is_native else by_worker
    found["FITS"] = [f"Astropy {found_version}"] if (found_version := _version("astropy")) else []
    return found


def _machine() -> dict[str, Any]:
    from dali_core._runtime.native_code import simd_level

    information = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    name = re.search(r"model name\s*:\s*(.+)", information)
    return {
        "processor": name[1].strip() if name else platform.machine(),
        "processors": processors(),
        "simd": simd_level(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
    }


def _gpu() -> dict[str, Any]:
    """Return the devices, or why there is none."""
    from dali_core import cuda
    from dali_core.errors import CudaError

    driver = re.search(r"\b\d+\.\d+(\.\d+)?\b", _DRIVER.read_text()) if _DRIVER.exists() else None
    found: dict[str, Any] = {"devices": [], "driver": driver[0] if driver else None, "reason": None}
    try:
        found["devices"] = [cuda.device_name(number) for number in range(cuda.device_count())]
    except CudaError as error:
        found["reason"] = str(error)
    return found


def _cuda_packages() -> dict[str, str]:
    names = {
        name: distribution.version
        for distribution in distributions()
        if _OF_CUDA.fullmatch(name := distribution.metadata["Name"] or "")
    }
    return dict(sorted(names.items()))


def _missing() -> list[dict[str, Any]]:
    found = []
    for extra, wanted in EXTRAS.items():
        packages = [name for name in wanted if _version_for(name) is None]
        if packages:
            command = install_command(extra)
            found.append({"extra": extra, "packages": packages, "command": command})
    return found


def _lines(described: dict[str, Any]) -> Iterator[str]:
    machine, gpu = described["machine"], described["gpu"]
    rows = [(name, value) for name, value in described["versions"].items()]
    for adapter in described["adapters"]:
        installed = adapter["framework_version"] or "not installed"
        rows.append((f"adapter {adapter['name']}", f"{adapter['framework']} {installed}"))
    rows.append(("processor", f"{machine['processor']}, {machine['simd']}"))
    rows.append(("processors", str(machine["processors"])))
    rows.append(("memory", f"{machine['memory_bytes'] / 2**30:.1f} GiB"))
    rows.append(("system", machine["system"]))
    rows.append(("driver", gpu["driver"] or "none"))
    rows += [(f"GPU {number}", name) for number, name in enumerate(gpu["devices"])]
    if gpu["reason"]:
        rows.append(("GPU", f"none: {gpu['reason']}"))
    rows += described["cuda_packages"].items()
    width = max(len(name) for name, _ in rows)
    yield from (f"{name:{width}}  {value}" for name, value in rows)
    yield ""
    yield "decoded by"
    for name, libraries in described["codecs"].items():
        yield f"  {name:10} {', then '.join(libraries) or 'nothing'}"
    if described["missing"]:
        yield ""
        yield "not installed"
        for entry in described["missing"]:
            yield f"  {', '.join(entry['packages'])}: {entry['command']}"
