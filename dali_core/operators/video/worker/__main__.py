"""Entry of the worker: `python -I -S <this folder> <folder of PyAV> <mode> ...`."""

from __future__ import annotations

import sys
import types
from pathlib import Path


def _make_importable(av_folder: str) -> None:
    # Importing the parents by themselves would load NumPy and the compiled modules.
    here = Path(__file__).resolve().parent
    packages = ("dali_core", "dali_core.operators", "dali_core.operators.video")
    for name, folder in zip(packages, (here.parents[2], here.parents[1], here.parent), strict=True):
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    if av_folder:
        sys.path.append(av_folder)


def main() -> int:
    """Do what the arguments say until the other process closes its end."""
    av_folder, mode, *rest = sys.argv[1:]
    _make_importable(av_folder)
    if mode == "index":
        from dali_core.operators.video.worker.indexing import serve_indices

        return serve_indices(*map(float, rest))
    if mode == "saved":
        from dali_core.operators.video.worker.saving import serve_saved_indices

        return serve_saved_indices(*rest)
    from dali_core.operators.video.worker.serving import serve_frames

    return serve_frames()


if __name__ == "__main__":
    sys.exit(main())
