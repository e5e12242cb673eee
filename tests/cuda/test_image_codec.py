"""Decoding on the device, by a fake nvImageCodec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cuda.simulated_driver import run_simulated
from tests.cuda.test_pipeline_streams import PRELUDE

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
pytest.importorskip("PIL", reason="not available: Pillow")

FILES = """
from tests.cuda import image_codec
from tests.generated_images import encode, jpeg, photo_like

image_codec.install()
photos = [photo_like(40 + 7 * i, 60 - 5 * i, seed=i) for i in range(8)]
files = [jpeg(photo, subsampling=i % 3, progressive=i % 2 == 1) for i, photo in enumerate(photos)]
files[2] = encode(photos[2], "PNG")
files[5] = encode(photos[5], "JPEG", "L")
files[6] = encode(photos[6], "JPEG", "CMYK")

def encoded():
    return fn.external_source(
        source=lambda info: np.frombuffer(files[info.idx_in_epoch % len(files)], np.uint8),
        batch=False,
    )

def results(make, device, batches=4, **options):
    options = {"seed": 7, "device_id": 0 if device == "mixed" else None} | options
    pipeline = made(lambda: [make(encoded(), device=device)], **options)
    found = []
    for _ in range(batches):
        (batch,) = pipeline.run()
        if device == "mixed":
            assert isinstance(batch, TensorListGPU)
            batch = batch.as_cpu()
        assert batch.layout() == "HWC" and batch.dtype == types.UINT8
        found += [np.array(sample) for sample in batch]
    return found

def compare(make, most=1.0, **options):
    expected = results(make, "cpu", **options)
    found = results(make, "mixed", **options)
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert one.shape == other.shape, (number, one.shape, other.shape)
        difference = np.abs(one.astype(int) - other).mean() if one.size else 0
        assert difference <= most, (number, difference)
"""


def run(program: str, env: Mapping[str, str] | None = None, **options: Any) -> str:
    env = {"DALI_CORE_GPU_DECODER": "1"} if env is None else env
    return run_simulated(PRELUDE + FILES + program, env=env, **options)


def test_images_equal_the_host() -> None:
    """This includes files that the device's decoder rejects, and those that it never gets."""
    run(
        """
image_codec.refused |= {1, 6}
compare(fn.decoders.image)
(decoder,) = image_codec.decoders
assert 8 <= decoder.num_files, decoder.num_files
for output_type in (types.BGR, types.GRAY):
    compare(lambda data, device: fn.decoders.image(data, device=device, output_type=output_type))
assert len(image_codec.decoders) == 3
""",
        delay=0.001,
    )


def test_rgb_jpegs_are_decoded_on_the_host() -> None:
    run(
        """
from tests.generated_images import sampled_jpeg, without_segments

usual = sampled_jpeg(33, 70, "444")
by_adobe = sampled_jpeg(33, 70, "444", adobe_transform=0)
# The components of a frame are numbered 1, 2, 3, or named; a scan refers to them.
by_names = without_segments(usual, 0xE0)
frame, scan = by_names.index(b"\\xff\\xc0"), by_names.index(b"\\xff\\xda")
by_names = bytearray(by_names)
for i, name in enumerate(b"RGB"):
    by_names[frame + 10 + 3 * i] = by_names[scan + 5 + 2 * i] = name
files[:] = [usual, by_adobe, bytes(by_names), usual]
decoded = set()
decode = image_codec.Decoder._decode

def noted(self, file, *others):
    decoded.add(file.array.tobytes())
    return decode(self, file, *others)

image_codec.Decoder._decode = noted
compare(fn.decoders.image, most=0)
assert decoded == {usual}
""",
    )


def test_windows_equal_the_host() -> None:
    run(
        """
image_codec.refused |= {2, 3}
crops = [
    {"crop": (30, 20)},
    {"crop_h": 25, "crop_w": 21, "crop_pos_x": 0.3, "crop_pos_y": 1.0, "rounding": "truncate"},
    {},
]
for options in crops:
    compare(lambda data, device: fn.decoders.image_crop(data, device=device, **options))

def at_random(data, device):
    return fn.decoders.image_crop(
        data, device=device, crop=(30, 20), crop_pos_x=fn.random.uniform(range=(0, 1), seed=3)
    )
compare(at_random)

slices = [
    {"start": (3, 5), "shape": (11, 17)},
    {"rel_start": (0.25, 0.5), "rel_end": (0.75, 1.0), "axis_names": "HW"},
    {"end": 13, "axes": [0]},
]
for options in slices:
    compare(lambda data, device: fn.decoders.image_slice(data, device=device, **options))
num_decoders = len(image_codec.decoders)
assert num_decoders == 7
compare(lambda data, device: fn.decoders.image_slice(
    data, np.float32([0.1, 0.2]), np.float32([0.5, 0.5]), device=device
))
for options in ({}, {"seed": 11, "random_area": (0.2, 0.5)}):
    compare(lambda data, device: fn.decoders.image_random_crop(data, device=device, **options))

# Here axes of images and of files mean different things.
num_decoders = len(image_codec.decoders)
compare(lambda data, device: fn.decoders.image_slice(data, device=device, end=13, axes=[-2]), 0)
assert len(image_codec.decoders) == num_decoders
""",
        delay=0.0005,
    )


def test_random_operators_do_not_depend_on_the_decoder() -> None:
    """Operators before and after it work wherever the images were decoded."""
    run(
        """
def make(data, device):
    angle = fn.random.uniform(range=(0, 1))
    image = fn.decoders.image_random_crop(data, device=device, random_area=(0.3, 0.9))
    return fn.crop(image, crop=(8, 8), crop_pos_x=fn.random.uniform(range=(0, 1)), crop_pos_y=angle)
compare(make)
"""
    )


def test_unsupported_requests_are_decoded_on_the_host() -> None:
    """Features that the device's decoder does not support, and everything if it is disabled."""
    program = """
def plan(**options):
    return str(made(lambda: [fn.decoders.image(encoded(), device="mixed", **options)]).plan())

others = [{"dtype": types.FLOAT}, {"output_type": types.YCbCr}, {"output_type": types.ANY_DATA}]
for options in others:
    assert "on_device" not in plan(**options), plan(**options)
"""
    run(program + 'assert "on_device" in plan()\n')
    run(program + 'assert "on_device" not in plan()\n', env={"DALI_CORE_GPU_DECODER": "0"})
    run(
        program
        + """
from pathlib import Path
from tempfile import TemporaryDirectory

# nvJPEG of CUDA 12 is a package, that of CUDA 13 a file.
del sys.modules["nvidia.nvjpeg"]
with TemporaryDirectory() as folder:
    sys.modules["nvidia.nvimgcodec"].__spec__.submodule_search_locations[:] = [f"{folder}/codec"]
    assert "on_device" not in plan()
    for place in ("codec/.libs", "cu13/lib"):
        library = Path(folder, place, "libnvjpeg.so.13")
        library.parent.mkdir(parents=True)
        library.touch()
        assert "on_device" in plan()
        library.unlink()
"""
    )
    run(
        """
try:
    made(lambda: [fn.decoders.image(encoded(), device="mixed")])
except ArgumentValueError as error:
    assert "DALI_CORE_GPU_DECODER must be 0 or 1" in str(error)
else:
    raise AssertionError
""",
        env={"DALI_CORE_GPU_DECODER": "no"},
    )


def test_host_decoding_without_nvjpeg() -> None:
    """The host decodes only what is needed, as before; neither nvImageCodec nor CUDA is loaded."""
    run_simulated(
        PRELUDE
        + """
def outputs():
    data = fn.external_source(source=lambda: [np.zeros(3, np.uint8)] * 4)
    return [fn.resize(fn.decoders.image(data, device="mixed"), size=(8, 8))]

plan = str(made(outputs).plan())
assert "on_device" not in plan and "merge" not in plan, plan
assert "nvidia.nvimgcodec" not in sys.modules
assert "dali_core.operators.decoders.on_device.step" not in sys.modules
"""
    )


BAD = """
good = list(files)
files[1] = b"\\xff\\xd8\\xff and no more\\xff\\xd9"
files[3] = good[3][: len(good[3]) // 2]
calls = [
    fn.decoders.image,
    fn.decoders.image_random_crop,
    lambda data, device: fn.decoders.image_crop(data, device=device, crop=(30, 20)),
    lambda data, device: fn.decoders.image_slice(data, device=device, end=(30, 20)),
]

def message(make, device):
    try:
        results(make, device)
    except SampleError as error:
        return str(error)
    raise AssertionError("no error")
"""


def test_bad_files_raise_the_errors_of_the_host() -> None:
    run(
        BAD
        + """
for make in calls:
    on_host, on_device = (message(make, device) for device in ("cpu", "mixed"))
    assert on_host == on_device, (on_host, on_device)
"""
    )


def test_bad_files_are_replaced() -> None:
    run(
        BAD
        + """
options = {"on_sample_error": "replace", "max_bad_samples": 100}
for make in calls:
    if make is not fn.decoders.image_random_crop:
        compare(make, **options)
    else:  # which draws another window of the image that takes the place
        found = results(make, "mixed", **options)
        for number, expected in enumerate(results(make, "cpu", **options)):
            if number % 8 not in (1, 3):
                assert np.abs(found[number].astype(int) - expected).mean() < 1
"""
    )


def test_slow_files_are_decoded_on_the_host() -> None:
    run(
        """
from tests.jpeg_scans import FlatImage, write_scans

files[1] = write_scans(FlatImage(4000, 4000), [0] * 100)
try:
    results(fn.decoders.image, "mixed")
except SampleError as error:
    assert error.operator == "decoders.image" and error.sample == 1, error
    assert "the scans of a JPEG file must" in str(error), error
else:
    raise AssertionError("no error")
seen = []
parse = image_codec.CodeStream.__init__

def note(stream, array):
    seen.append(bytes(array))
    parse(stream, array)

image_codec.CodeStream.__init__ = note
compare(fn.decoders.image, on_sample_error="replace", max_bad_samples=100)
assert files[0] in seen and files[1] not in seen
"""
    )


def test_windows_outside_of_an_image() -> None:
    """They raise an error, or are replaced, as on the host."""
    run(
        BAD
        + """
files[:] = good
def make(data, device):
    return fn.decoders.image_crop(data, device=device, crop=(44, 20))
for device in ("cpu", "mixed"):
    text = message(make, device)
    assert "fn.decoders.image_crop, at" in text and "sample 0: the" in text, text
    assert "must lie inside the" in text, text
compare(make, on_sample_error="replace", max_bad_samples=100)
"""
    )


def test_images_outlive_their_pipeline() -> None:
    """Delayed streams, and images that outlive their batch and their pipeline."""
    run_simulated(
        PRELUDE
        + FILES
        + """
image_codec.refused.add(3)

def images(data, device):
    return fn.decoders.image(data, device=device)

expected = results(images, "cpu")
pipeline = made(
    lambda: [fn.decoders.image(encoded(), device="mixed")], prefetch_queue_depth=3
)
batches = []
for number in range(4):
    (batch,) = pipeline.run()
    for sample in batch:  # to the address of the codec's memory: nothing was copied
        assert sample.shape()[0] > 0
    batches.append(batch)
handle = new_stream()
control.set_delay(0.02, handle)
kept = batches[1][1]
kept.synchronize()
read = Reading(kept.data_ptr(), expected[5], handle).result()
assert np.abs(read.astype(int) - expected[5]).mean() < 1
pipeline.close()
del pipeline, batch, sample
for number, batch in enumerate(batches):
    for place, sample in enumerate(batch.as_cpu()):
        difference = np.abs(np.array(sample).astype(int) - expected[4 * number + place])
        assert difference.mean() < 1, (number, place)
del batches, batch, sample
gc.collect()
kept.synchronize()
assert np.abs(np.array(kept.as_cpu()).astype(int) - expected[5]).mean() < 1
control.set_delay(0.0)
""",
        delay=0.003,
    )


def test_codec_failure_falls_back_to_the_host() -> None:
    """The host decodes it, and a warning is issued."""
    run(
        """
import warnings

def images(data, device):
    return fn.decoders.image(data, device=device)

expected = results(images, "cpu")
image_codec.errors.append(RuntimeError("out of luck"))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    found = results(images, "mixed")
assert all(
    np.abs(one.astype(int) - other).mean() < 1 for one, other in zip(found, expected, strict=True)
)
(warning,) = [str(entry.message) for entry in told]
assert "out of luck" in warning and "DALI_CORE_GPU_DECODER=0" in warning, warning
"""
    )


def test_codec_start_failure_is_an_error() -> None:
    run(
        """
def fails(**options):
    raise RuntimeError("no nvJPEG")

sys.modules["nvidia.nvimgcodec"].Decoder = fails
pipeline = made(lambda: [fn.decoders.image(encoded(), device="mixed")])
try:
    pipeline.run()
except SampleError as error:
    assert isinstance(error.__cause__, CudaError)
    text = str(error)
else:
    raise AssertionError
assert "no nvJPEG" in text and "'dali_core[nvjpeg]'" in text, text
assert "DALI_CORE_GPU_DECODER=0" in text
"""
    )


def test_decoder_in_conditional_branch() -> None:
    """Only the samples that take the branch are decoded; chains on the device continue."""
    run(
        """
from pathlib import Path
from tempfile import mkdtemp

image_codec.refused |= {0, 3}

def chain(data, device):
    image = fn.decoders.image_random_crop(data, device=device)
    image = fn.resize(image, size=(16, 12))
    return fn.flip(image, horizontal=fn.random.coin_flip())

compare(chain)
folder = Path(mkdtemp())
(folder / "branches.py").write_text('''
from dali_core import fn, pipeline_def

@pipeline_def(enable_conditionals=True, batch_size=4, num_threads=1, seed=1)
def branches(encoded, device):
    data = encoded()
    if fn.shapes(data)[0] % 2 == 0:
        image = fn.decoders.image(data, device=device)
    else:
        image = fn.flip(fn.decoders.image(data, device=device))
    return image
''')
sys.path.insert(0, str(folder))
from branches import branches

for _ in range(3):
    pipelines = [
        branches(encoded, device, device_id=number)
        for device, number in (("cpu", None), ("mixed", 0))
    ]
    (expected,), (found,) = (pipeline.run() for pipeline in pipelines)
    for one, other in zip(found.as_cpu(), expected, strict=True):
        assert np.abs(np.array(one).astype(int) - np.array(other)).mean() < 1
"""
    )


def test_images_have_source_info() -> None:
    run(
        """
from pathlib import Path
from tempfile import mkdtemp

image_codec.refused.add(1)
folder = Path(mkdtemp())
names = [str(folder / f"{number}.bin") for number in range(4)]
for name, file in zip(names, files):
    Path(name).write_bytes(file)

def outputs():
    image = fn.decoders.image(fn.readers.file(files=names)[0], device="mixed")
    return [fn.get_property(image, key="source_info")]

(batch,) = made(outputs).run()
found = [bytes(np.asarray(name)).decode() for name in batch]
assert found == names, found
"""
    )


def test_gpu_tests_of_decoding_pass() -> None:
    run(
        """
import pytest

image_codec.refused.clear()
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-m", "gpu", "tests/gpu/test_decoding.py"]))
""",
        env={"DALI_CORE_REQUIRE_GPU": "1"},
    )
