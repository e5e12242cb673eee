"""Decoding videos on the device, by a fake PyNvVideoCodec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.simulated_driver import run_simulated
from tests.cuda.test_pipeline_streams import PRELUDE

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
pytest.importorskip("av", reason="not available: PyAV")

ON_DEVICE = (
    *("h264.mp4", "h264_open_gop.mkv", "h264_uneven.mp4", "h264_late.ts", "h264_10_bit.mp4"),
    *("h264_quarter_turn.mp4", "h264_quarter_back.mp4", "h264_half_turn.mov", "h264_bt709.mp4"),
    *("h264_full_range.mp4", "hevc_10_bit.mp4", "vp9.webm"),
    *("h264_upside_down.mov", "h264_transverse.mp4"),
)
# Unknown surface formats, and timestamps that differ from the codec's.
ON_HOST = (
    *("h264_444_odd.mov", "h264_422.mkv", "hevc_grey.mkv", "h264_rgb.mp4"),
    *("vp9_mirrored_odd.mp4", "h264_transposed.mp4"),
)

Video = Callable[[str], Path]
HELPERS = """
from tests.cuda import video_codec

def frames(reader, names, device, batches=2, **options):
    settings = {"seed": 7, "device_id": 0 if device == "gpu" else None} | options
    pipeline = made(lambda: outputs(reader(names), device), **settings)
    found = []
    for _ in range(batches):
        for number, batch in enumerate(pipeline.run()):
            if device == "gpu":
                assert isinstance(batch, TensorListGPU)
                batch = batch.as_cpu()
            assert number or (batch.layout() == "FHWC" and batch.dtype == types.UINT8)
            found.append([np.array(sample) for sample in batch])
    return found

def outputs(make, device):
    results = make(device)
    return results if isinstance(results, list) else [results]

def compare(reader, names, **options):
    # Gives the names of the files whose surfaces were used.
    from dali_core.operators.video.surfaces import step

    used = set()
    decode = step.DecodeFramesStep._decode

    def note(self, path, *others):
        result = decode(self, path, *others)
        if result.__cuda_array_interface__["shape"][0]:
            used.add(os.path.basename(path))
        return result

    video_codec.decoded.clear()
    expected = frames(reader, names, "cpu", **options)
    assert not video_codec.decoded
    step.DecodeFramesStep._decode = note
    found = frames(reader, names, "gpu", **options)
    step.DecodeFramesStep._decode = decode
    for one, other in zip(found, expected, strict=True):
        for mine, wanted in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, wanted, strict=True)
    return used

def clips(**arguments):
    def reader(names):
        def make(device):
            return fn.readers.video(
                filenames=names, device=device, **({"sequence_length": 4} | arguments)
            )
        return make
    return reader

def sequences(**arguments):
    def reader(names):
        def make(device):
            return fn.experimental.readers.video(
                filenames=names, device=device, **({"sequence_length": 4} | arguments)
            )
        return make
    return reader
"""


@pytest.fixture
def run(video: Video) -> Callable[..., str]:
    def run_with(
        program: str,
        names: tuple[str, ...],
        env: Mapping[str, str] | None = None,
        **options: Any,
    ) -> str:
        paths = f"paths = {[str(video(name)) for name in names]!r}\n"
        text = PRELUDE + HELPERS + "video_codec.install()\n" + paths + program
        return run_simulated(text, env={"DALI_CORE_GPU_VIDEO": "1"} | dict(env or {}), **options)

    return run_with


Run = Callable[..., str]


def test_frames_equal_the_host(run: Run) -> None:
    """Depths, ranges, orientations, matrices and GOPs; bit for bit."""
    run(
        f"""
names = {[*ON_DEVICE, *ON_HOST]!r}
num_batches = 2 * len(names)
seen = compare(clips(step=16, stride=2, labels=[]), paths, batches=num_batches // 4)
assert seen == {{*{ON_DEVICE!r}}}, seen
"""
        + """
for kind in (types.BGR, types.GRAY, types.YCbCr):
    assert compare(sequences(image_type=kind), paths[4:6])
for matrix in ("bt709", "bt2020"):
    assert compare(sequences(color_matrix=matrix), paths[4:6])
assert compare(clips(color_matrix="auto", clips_per_video=3), [paths[0], paths[8]]) == {
    "h264_bt709.mp4"
}, "what says nothing of its matrix is for the host"
""",
        (*ON_DEVICE, *ON_HOST),
        delay=0.0002,
    )


def test_labels_and_frame_numbers(run: Run) -> None:
    run(
        """
beside = {"labels": [3, 4], "enable_frame_num": "sequence"}
assert compare(sequences(pad_mode="edge", sequence_length=16, **beside), paths, batches=3)
seen = compare(sequences(pad_mode="constant", sequence_length=16, fill_value=[9], **beside), paths)
assert seen == {"h264.mp4", "h264_open_gop.mkv"}, "but for the clips that are padded"
assert not compare(sequences(enable_timestamps=True, **beside), paths), "times are the host's"
assert not compare(clips(dtype=types.UINT8), paths, on_sample_error="replace", max_bad_samples=9)
""",
        ("h264.mp4", "h264_open_gop.mkv"),
    )


def test_frames_with_wrong_timestamps_are_decoded_on_the_host(run: Run) -> None:
    """The index of the codec may differ; timestamps reveal that, and the host decodes."""
    run(
        """
video_codec.late.add("h264.mp4")
assert compare(clips(), paths) == {"hevc.mp4"}
assert {name for name, _ in video_codec.decoded} == {"h264.mp4", "hevc.mp4"}
video_codec.late.clear()
video_codec.refused.add("hevc.mp4")
assert compare(clips(), paths) == {"h264.mp4"}
""",
        ("h264.mp4", "hevc.mp4"),
    )


def test_damaged_files_raise_the_errors_of_the_host(run: Run, video: Video, tmp_path: Path) -> None:
    content = bytearray(video("h264.mp4").read_bytes())
    content[len(content) // 3 : 2 * len(content) // 3] = bytes(len(content) // 3)
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(content)
    run(
        f"""
video_codec.refused.add("damaged.mp4")
messages = []
for device in ("cpu", "gpu"):
    try:
        frames(clips(sequence_length=30), [{str(damaged)!r}], device)
    except SampleError as error:
        messages.append(str(error).split("sample")[-1])
assert len(messages) == 2 and messages[0] == messages[1], messages
assert "damaged.mp4" in messages[0], messages
""",
        (),
    )


def test_operators_after_the_reader(run: Run) -> None:
    run(
        """
def reader(names):
    def make(device):
        clip = clips(random_shuffle=True)(names)(device)
        return fn.resize(fn.crop(clip, crop=(30, 40)), size=(16, 20))
    return make

assert compare(reader, paths) == {"h264.mp4", "hevc.mp4"}
assert compare(reader, paths, prefetch_queue_depth=3, batch_size=2, batches=5)
""",
        ("h264.mp4", "hevc.mp4"),
        delay=0.001,
    )


def test_disabled_by_environment_variable(run: Run) -> None:
    run(
        """
del sys.modules["PyNvVideoCodec"]
frames(clips(), paths, "gpu")
loaded = {"PyNvVideoCodec", "dali_core.operators.video.surfaces.step"} & set(sys.modules)
assert not loaded, loaded
""",
        ("h264.mp4",),
        env={"DALI_CORE_GPU_VIDEO": "0"},
    )


def test_codec_errors_name_the_remedy(run: Run) -> None:
    run(
        """
import importlib.machinery, types as modules

def message(kind):
    try:
        frames(clips(), paths, "gpu")
    except kind as error:
        return str(error)
    raise AssertionError("no error")

os.environ["DALI_CORE_GPU_VIDEO"] = "yes"
assert "DALI_CORE_GPU_VIDEO must be 0 or 1 (got 'yes')" in message(ArgumentValueError)
os.environ["DALI_CORE_GPU_VIDEO"] = "1"
del sys.modules["PyNvVideoCodec"]
text = message(MissingModuleError)
assert "PyNvVideoCodec (got none)" in text and "dali_core[nvvideo]" in text, text

class NoDriver:
    def find_spec(self, name, path=None, target=None):
        if name == "PyNvVideoCodec":
            return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        raise RuntimeError("libnvidia-encode.so.1: cannot open shared object file\\nand so on")

    def exec_module(self, module):
        raise AssertionError

sys.meta_path.insert(0, NoDriver())
text = message(SampleError)
assert "PyNvVideoCodec must be able to start (got libnvidia-encode.so.1" in text, text
assert "fn.readers.video" in text and "DALI_CORE_GPU_VIDEO=0" in text, text
""",
        ("h264.mp4",),
    )
