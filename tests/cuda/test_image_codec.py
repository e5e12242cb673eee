"""Decoding on the device, by a fake nvImageCodec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
pytest.importorskip("PIL", reason="not available: Pillow")


def run(program: str, env: Mapping[str, str] | None = None, **options: Any) -> str:
    env = {"DALI_CORE_GPU_DECODER": "1"} if env is None else env
    return run_program(program, env=env, **options)


def test_images_equal_the_host() -> None:
    """This includes files that the device's decoder rejects, and those that it never gets."""
    run("image_codec/images_equal_the_host", delay=0.001)


def test_rgb_jpegs_are_decoded_on_the_host() -> None:
    run("image_codec/rgb_jpegs_are_decoded_on_the_host")


def test_windows_equal_the_host() -> None:
    run("image_codec/windows_equal_the_host", delay=0.0005)


def test_random_operators_do_not_depend_on_the_decoder() -> None:
    """Operators before and after it work wherever the images were decoded."""
    run("image_codec/random_operators_do_not_depend_on_the_decoder")


def test_unsupported_requests_are_decoded_on_the_host() -> None:
    """Features that the device's decoder does not support, and everything if it is disabled."""
    program = "image_codec/plans_of_unsupported_requests"
    run(program, arguments=[True])
    run(program, arguments=[False], env={"DALI_CORE_GPU_DECODER": "0"})
    run("image_codec/plans_by_location_of_nvjpeg")
    run(
        "image_codec/rejects_invalid_environment_variable",
        env={"DALI_CORE_GPU_DECODER": "no"},
    )


def test_host_decoding_without_nvjpeg() -> None:
    """The host decodes only what is needed, as before; neither nvImageCodec nor CUDA is loaded."""
    run_program("image_codec/host_decoding_without_nvjpeg")


def test_bad_files_raise_the_errors_of_the_host() -> None:
    run("image_codec/bad_files_raise_the_errors_of_the_host")


def test_bad_files_are_replaced() -> None:
    run("image_codec/bad_files_are_replaced")


def test_slow_files_are_decoded_on_the_host() -> None:
    run("image_codec/slow_files_are_decoded_on_the_host")


def test_windows_outside_of_an_image() -> None:
    """They raise an error, or are replaced, as on the host."""
    run("image_codec/windows_outside_of_an_image")


def test_images_outlive_their_pipeline() -> None:
    """Delayed streams, and images that outlive their batch and their pipeline."""
    run_program("image_codec/images_outlive_their_pipeline", delay=0.003)


def test_codec_failure_falls_back_to_the_host() -> None:
    """The host decodes it, and a warning is issued."""
    run("image_codec/codec_failure_falls_back_to_the_host")


def test_codec_start_failure_is_an_error() -> None:
    run("image_codec/codec_start_failure_is_an_error")


def test_decoder_in_conditional_branch() -> None:
    """Only the samples that take the branch are decoded; chains on the device continue."""
    run("image_codec/decoder_in_conditional_branch")


def test_images_have_source_info() -> None:
    run("image_codec/images_have_source_info")


def test_gpu_tests_of_decoding_pass() -> None:
    output = run("image_codec/gpu_tests_of_decoding_pass", env={"DALI_CORE_REQUIRE_GPU": "1"})
    summary = output.splitlines()[-1]
    assert "passed" in summary
    assert "skipped" not in summary
