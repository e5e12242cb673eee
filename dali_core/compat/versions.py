"""Versions that programs compare, under the names of NVIDIA DALI."""

from __future__ import annotations

from importlib import metadata


def cuda_version() -> int:
    """Return the version of the installed bindings of CUDA, as 12901 for 12.9.1; 0 without any."""
    try:
        version = metadata.version("cuda-bindings")
    except metadata.PackageNotFoundError:
        return 0
    return int("".join(part for part in version.split(".")[:3] if part.isdigit()))


def git_sha() -> str:
    """Return no text: releases of this library have a version only."""
    return ""
