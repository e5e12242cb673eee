"""Decoder engines and threads."""

from dali_core import fn
from dali_core.errors import ArgumentValueError
from tests.cuda import image_codec
from tests.cuda.programs.image_codec.files import results


def decoder(**options):
    results(
        lambda data, device: fn.decoders.image(data, device=device, **options), "mixed", batches=1
    )
    return image_codec.decoders.pop()


kinds = image_codec.BackendKind
usual = decoder()
assert usual.max_num_cpu_threads == 1
assert [(backend.kind, backend.load_hint) for backend in usual.backends] == [
    (kinds.HW_GPU_ONLY, 0.65),
    (kinds.GPU_ONLY, 1.0),
    (kinds.HYBRID_CPU_GPU, 1.0),
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
