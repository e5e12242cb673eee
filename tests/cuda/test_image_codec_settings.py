"""What the codec of the device is asked for, and what a batch costs, by a fake nvImageCodec."""

from __future__ import annotations

import pytest

from tests.cuda.test_image_codec import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
pytest.importorskip("PIL", reason="not available: Pillow")


def test_decoder_engines_and_threads() -> None:
    """Arguments of the decoder reach it, and it has no more threads than the pipeline."""
    run("image_codec_settings/decoder_engines_and_threads")


def test_batch_records_two_events() -> None:
    """One that tells when its images are complete, and one when their memory is free."""
    run("image_codec_settings/batch_records_two_events")


def test_host_decoded_images_are_copied_together() -> None:
    """Whatever their sizes: up go addresses, down go addresses and then the images."""
    run("image_codec_settings/host_decoded_images_are_copied_together", env={})
