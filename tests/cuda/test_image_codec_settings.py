"""What the codec of the device is asked for, and what a batch costs, by a fake nvImageCodec."""

from __future__ import annotations

import pytest

from tests.cuda.test_image_codec import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
pytest.importorskip("PIL", reason="not available: Pillow")


def test_decoder_engines_and_threads() -> None:
    """Arguments of the decoder reach it, and it has no more threads than the pipeline."""
    run(
        """
def decoder(**options):
    results(
        lambda data, device: fn.decoders.image(data, device=device, **options), "mixed", batches=1
    )
    return image_codec.decoders.pop()

kinds = image_codec.BackendKind
usual = decoder()
assert usual.max_num_cpu_threads == 1
assert [(backend.kind, backend.load_hint) for backend in usual.backends] == [
    (kinds.HW_GPU_ONLY, 0.65), (kinds.GPU_ONLY, 1.0), (kinds.HYBRID_CPU_GPU, 1.0)
]
assert usual.backends[0].load_hint_policy is image_codec.LoadHintPolicy.FIXED
assert sorted(usual.options.split()) == [
    ":fancy_upsampling=1",
    "nvjpeg_cuda_decoder:device_memory_padding=16777216",
    "nvjpeg_cuda_decoder:host_memory_padding=8388608",
    "nvjpeg_cuda_decoder:hybrid_huffman_threshold=1000000",
]
other = decoder(hw_decoder_load=0.9, preallocate_width_hint=700, hybrid_huffman_threshold=0)
assert other.backends[0].load_hint == 0.9
assert "nvjpeg_hw_decoder:preallocate_width_hint=700" in other.options
assert "hybrid_huffman_threshold=0" in other.options
without = decoder(hw_decoder_load=0)
assert kinds.HW_GPU_ONLY not in [backend.kind for backend in without.backends]
for name, value in {"hw_decoder_load": 1.5, "host_memory_padding": -1}.items():
    try:
        decoder(**{name: value})
    except ArgumentValueError as error:
        assert name in str(error), error
    else:
        raise AssertionError(name)
"""
    )


def test_batch_records_two_events() -> None:
    """One that tells when its images are complete, and one when their memory is free."""
    run(
        """
files[:] = [jpeg(photo) for photo in photos]
counts = []
for size in (4, 32):
    pipeline = made(
        lambda: [fn.decoders.image(encoded(), device="mixed")], seed=7, batch_size=size
    )
    for _ in range(3):
        pipeline.run()
    before = control.counts()
    for _ in range(5):
        pipeline.run()
    after = control.counts()
    names = ("cuEventRecord", "cuStreamWaitEvent", "cuMemcpyAsync", "cuLaunchKernel")
    counts.append([after.get(name, 0) - before.get(name, 0) for name in names])
    pipeline.close()
print(counts)
# Files that the device decodes need no copies of their own, and no launch for each.
assert max(counts[1][2:]) <= 5 * 4, counts
assert counts[0][0] < 5 * 8 and max(counts[1][i] - counts[0][i] for i in (0, 1)) < 8, counts
"""
    )


def test_host_decoded_images_are_copied_together() -> None:
    """Whatever their sizes: up go addresses, down go addresses and then the images."""
    run(
        """
def copies():
    return control.counts().get("cuMemcpyAsync", 0)

# One batch at a time: nothing is copied for the next one meanwhile.
pipeline = made(
    lambda: [fn.decoders.image(encoded(), device="mixed")], batch_size=64,
    prefetch_queue_depth=1, exec_pipelined=False, exec_async=False,
)
for _ in range(3):
    before = copies()
    (batch,) = pipeline.run()
    assert copies() - before == 1, copies() - before
    before = copies()
    back = batch.as_cpu()
    assert copies() - before <= 2, copies() - before
    for number, sample in enumerate(back):
        assert sample.shape()[:2] == list(photos[number % 8].shape[:2])
pipeline.close()
""",
        env={},
    )
