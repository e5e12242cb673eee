"""``dali-core info``."""

from __future__ import annotations

import json
import platform
import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

import dali_core
from dali_core.__main__ import main
from dali_core._extras import install_command
from dali_core._runtime.native_code import has_libjpeg, simd_level
from dali_core.commands import info

ROOT = Path(__file__).parents[2]


def described(capsys: pytest.CaptureFixture[str]) -> dict:
    assert main(["info", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_keys_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = described(capsys)
    assert set(found) == {
        *("versions", "adapters", "codecs", "machine", "gpu", "cuda_packages", "missing")
    }
    assert found["versions"] == {
        "dali_core": dali_core.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    assert set(found["machine"]) == {"processor", "processors", "simd", "memory_bytes", "system"}
    assert found["machine"]["simd"] == simd_level()
    assert found["machine"]["memory_bytes"] > 2**28
    assert set(found["gpu"]) == {"devices", "driver", "reason"}
    # A GPU, or why there is none.
    assert bool(found["gpu"]["devices"]) != bool(found["gpu"]["reason"])


def test_codecs_name_their_decoders(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    codecs = described(capsys)["codecs"]
    second = "libjpeg-turbo" if has_libjpeg() else "nvImageCodec"
    assert codecs["JPEG"][0] == "dali_core"
    assert codecs["JPEG"][1].startswith(second)
    assert codecs["PNG"][0].startswith("nvImageCodec ")
    assert codecs["audio"][0].startswith("libsndfile")
    assert codecs["video"][0].startswith("FFmpeg")
    monkeypatch.setenv("DALI_CORE_JPEG", "own")
    assert described(capsys)["codecs"]["JPEG"] == ["dali_core"]
    monkeypatch.setenv("DALI_CORE_VIDEO_WORKER", "pyav")
    assert described(capsys)["codecs"]["video"][0].startswith("FFmpeg of PyAV ")


def test_missing_extras_are_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(info.EXTRAS, "audio", ("soundfile", "no-such-package"))
    (entry,) = [entry for entry in described(capsys)["missing"] if entry["extra"] == "audio"]
    assert entry["packages"] == ["no-such-package"]
    assert entry["command"] == install_command("audio")
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert f"\n  no-such-package: {install_command('audio')}\n" in text
    assert text.startswith("dali_core ")
    assert "\ndecoded by\n  JPEG " in text


def test_packages_for_cuda_13_serve_as_well(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(distribution: str) -> str:
        if distribution.startswith("nvidia-") and distribution.endswith("-cu12"):
            raise PackageNotFoundError(distribution)
        return "13.1"

    monkeypatch.setattr(info, "version", version)
    found = described(capsys)
    assert "nvjpeg" not in [entry["extra"] for entry in found["missing"]]
    assert found["codecs"]["PNG"] == ["nvImageCodec 13.1"]


def test_extras_are_those_of_the_package() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    section = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    declared = {
        name: set(re.findall(r'"([A-Za-z0-9-]+)(?:\[[\w,]+\])?[<>=;]', packages))
        for name, packages in re.findall(r"^(\w+) = \[(.*)\]$", section, re.MULTILINE)
    }
    del declared["demo"]  # of the repository
    assert {name: set(packages) for name, packages in info.EXTRAS.items()} == declared
