"""Readers and decoders of videos: as NVIDIA DALI on a CPU, pixels within two levels.

On a CPU it decodes VP8, VP9 and MJPEG. Where this library differs on purpose:

* `file_list`: a start without an end means the rest of the video, an end beyond the last frame the
  end of the video, and a negative time counts from there; in NVIDIA DALI, such lines are skipped.
  Labels may be negative; a text as a label and more than four columns are rejected.
* Damaged files are bad samples; in NVIDIA DALI, they are skipped. ``GRAY``, ``BGR`` and ``YCbCr``
  work; in NVIDIA DALI, they are rejected, or fail.
* A `sequence_length` or a `stride` of 0 raises an error; in NVIDIA DALI, memory runs out, or the
  process ends, so that is not tested.
* Shuffled orders are permutations of the whole data set.
* Videos with a display matrix are returned upright; in NVIDIA DALI, as they are stored.
"""

from __future__ import annotations

import itertools
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import dali_core
import dali_core.fn
from dali_core.testing.examples import list_of
from tests.conformance.comparing import always, described

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

PIXELS = 2  # levels that pixels may differ by
Video: TypeAlias = Callable[[str], Path]
PAD_MODES = (
    *("none", "constant", "edge", "repeat", "reflect_1001", "symmetric", "reflect_101", "reflect"),
)
CODECS = ("vp8.webm", "vp8_odd.webm", "vp9.webm", "vp9_hidden_frames.webm", "vp9_uneven.mkv")
MJPEG = ("mjpeg.avi", "mjpeg_444.mkv", "mjpeg_422.mov")


def read(library: Any, most: int = 60, batch_size: int = 1, **arguments: Any) -> list[Any]:
    """Return the reader's size, and dtype, layout and content of all outputs of an epoch."""
    pipeline = library.Pipeline(batch_size, 1, None, prefetch_queue_depth=1)
    with pipeline:
        outputs = library.fn.experimental.readers.video(name="reader", **arguments)
        pipeline.set_outputs(*list_of(outputs))
    pipeline.build()
    size = pipeline.epoch_size("reader")
    result: list[Any] = [described(pipeline.reader_meta("reader"))]
    for _ in range(-(-min(size, most) // batch_size)):
        batches = pipeline.run()
        result += [
            (
                batch.dtype.name,
                batch.layout(),
                # In NVIDIA DALI, only frames have a source file.
                [batch[i].source_info() for i in range(len(batch)) if batch.layout()],
                [np.array(batch.at(i)) for i in range(len(batch))],
            )
            for batch in batches
        ]
    return result


def check(**arguments: Any) -> list[Any]:
    expected = read(reference, **arguments)
    compare(read(dali_core, **arguments), expected)
    return expected


def compare(actual: Sequence[Any], expected: Sequence[Any]) -> None:
    assert actual[0] == expected[0]
    assert len(actual) == len(expected)
    for ours, theirs in zip(actual[1:], expected[1:], strict=True):
        assert ours[:3] == theirs[:3]
        compare_samples(ours[3], theirs[3])


def compare_samples(actual: Sequence[Any], expected: Sequence[Any]) -> None:
    for mine, other in zip(actual, expected, strict=True):
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        if mine.dtype == np.uint8:
            assert np.abs(mine.astype(int) - other).max(initial=0) <= PIXELS
        else:
            np.testing.assert_array_equal(mine, other)


def check_both_refuse(**arguments: Any) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            read(library, **arguments)


def everything(**arguments: Any) -> dict[str, Any]:
    return {"enable_frame_num": "sequence", "enable_timestamps": True, **arguments}


@pytest.mark.parametrize("name", [*CODECS, *MJPEG, "vp9_full_range.webm", "vp9_one_frame.webm"])
def test_codecs(video: Video, name: str) -> None:
    length = 1 if "one_frame" in name else 10
    found = check(filenames=str(video(name)), **everything(sequence_length=length, labels=[7]))
    assert len(found) > 4


@pytest.mark.parametrize("full_range", [False, True])
def test_sizes_and_subsamplings(tmp_path: Path, full_range: bool) -> None:
    """Chroma of odd sizes is spread over the picture."""
    from tests.video_files import BY_NAME, Recipe, write

    names = []
    for encoder, suffix, kinds in (
        ("libvpx-vp9", "mkv", ("yuv420p", "yuv422p", "yuv440p", "yuv444p")),
        ("mjpeg", "mov", ("yuvj420p", "yuvj422p") if full_range else ()),
    ):
        options = BY_NAME["vp9.webm"].options if "vp9" in encoder else {}
        for pixels, size in itertools.product(kinds, ((66, 48), (67, 48), (66, 49), (67, 49))):
            name = f"{pixels}_{size[0]}_{size[1]}.{suffix}"
            recipe = Recipe(
                name, encoder, options, size, num_frames=2, pixels=pixels, full_range=full_range
            )
            write(tmp_path / name, recipe)
            names.append(str(tmp_path / name))
    found = check(filenames=names, sequence_length=2, batch_size=len(names))
    assert len(found[1][3]) == (24 if full_range else 16)


@pytest.mark.parametrize(
    ("length", "stride", "step"),
    [(7, 1, -1), (7, 2, 3), (7, 2, 0), (5, 2, 4), (8, 3, 10), (3, 1, 30), (30, 1, 1)],
)
@pytest.mark.parametrize("pad_mode", ["none", "constant", "edge", "symmetric", "reflect"])
def test_lengths(video: Video, length: int, stride: int, step: int, pad_mode: str) -> None:
    check(
        filenames=[str(video("vp8.webm")), str(video("vp9_uneven.mkv"))],
        pad_mode=pad_mode,
        **everything(sequence_length=length, stride=stride, step=step, labels=[3, -4]),
    )


@pytest.mark.parametrize("length", [40, 100])
@pytest.mark.parametrize("pad_mode", PAD_MODES[1:])
def test_clips_longer_than_the_video(video: Video, length: int, pad_mode: str) -> None:
    check(
        filenames=[str(video("vp8.webm")), str(video("vp9_one_frame.webm"))],
        pad_mode=pad_mode,
        **everything(sequence_length=length),
    )


@pytest.mark.parametrize("fill_value", [0, 77, [77], [1, 2, 255]])
def test_fill_value(video: Video, fill_value: Any) -> None:
    check(
        filenames=str(video("mjpeg.avi")),
        sequence_length=20,
        pad_mode="constant",
        fill_value=fill_value,
    )


@pytest.mark.parametrize("flag", [False, True, "none", "scalar", "sequence", "True", "False", None])
@pytest.mark.parametrize("has_times", [False, True])
@pytest.mark.parametrize("labels", [None, [5]])
def test_outputs(video: Video, flag: Any, has_times: bool, labels: Any) -> None:
    given = {} if labels is None else {"labels": labels}
    check(
        filenames=[str(video("vp8.webm"))],
        sequence_length=8,
        pad_mode="edge",
        enable_frame_num=flag,
        enable_timestamps=has_times,
        **given,
    )


@pytest.mark.parametrize("length", [1, 2, 4, 5, 7, 29, 30, 31, 50, 100])
@pytest.mark.filterwarnings("ignore")
def test_uniform_samples(video: Video, length: int) -> None:
    check(
        filenames=[str(video("vp8.webm")), str(video("vp9_one_frame.webm"))],
        uniform_sample=True,
        **everything(sequence_length=length, labels=[1, 2]),
    )


def test_folders(video: Video, tmp_path: Path) -> None:
    for folder, names in {
        "b": ("vp8.webm", "mjpeg.avi"),
        "a": ("vp9.webm",),
        "Z": ("vp9_one_frame.webm", "vp8_odd.webm"),
        "c": (),
    }.items():
        (tmp_path / folder).mkdir()
        for name in names:
            shutil.copy(video(name), tmp_path / folder / name)
    shutil.copy(video("vp8.webm"), tmp_path / "top.webm")
    found = check(file_root=str(tmp_path), **everything(sequence_length=1, step=15))
    assert len(found) > 20


def linked(path: Path, folder: Path) -> Path:
    """Link a video where its path has no spaces, which the lists of NVIDIA DALI cannot have."""
    link = folder / path.name
    if not link.exists():
        link.symlink_to(path)
    return link


def check_list(video: Video, folder: Path, *lines: str, **arguments: Any) -> list[Any]:
    listing = folder / "list.txt"
    names = ("vp8.webm", "mjpeg.avi")
    paths = {name.replace(".", "_"): linked(video(name), folder) for name in names}
    uneven = linked(video("vp9_uneven.mkv"), folder)
    listing.write_text("\n".join(line.format(**paths, uneven=uneven) for line in lines))
    given = {"sequence_length": 40, "pad_mode": "constant", **arguments}
    return check(file_list=str(listing), **everything(**given))


ROUNDINGS = ("start_down_end_up", "start_up_end_down", "all_up", "all_down")
TIMES = (
    "0.13 0.47",
    "0.12 0.48",
    "0.1201 0.4801",
    "0.1199 0.4799",
    "0.12 1.16",
    "0 0.5",
    "0.9 1.15",
    "-1 0.47",
)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("includes_end", [False, True])
def test_lists_of_times(video: Video, tmp_path: Path, rounding: str, includes_end: bool) -> None:
    lines = [
        f"{{{name}}} 3 {times}"
        for name, times in itertools.product(("vp8_webm", "mjpeg_avi", "uneven"), TIMES)
    ]
    found = check_list(
        video,
        tmp_path,
        *lines,
        file_list_rounding=rounding,
        file_list_include_end=includes_end,
    )
    assert found[0]["epoch_size"] == len(lines)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_lists_of_frames(video: Video, tmp_path: Path, rounding: str) -> None:
    ends = ("4 9", "4.5 9.5", "-6 -2", "5 -2", "25 100", "-4.5 -1.5", "0 -1", "0 30")
    found = check_list(
        video,
        tmp_path,
        *(f"{{vp8_webm}} {label}  {end} " for label, end in enumerate(ends)),
        file_list_format="frames",
        file_list_rounding=rounding,
    )
    assert found[0]["epoch_size"] == len(ends)


@pytest.mark.parametrize("pad_mode", PAD_MODES)
@pytest.mark.parametrize("stride", [1, 3])
def test_padding_of_ranges(video: Video, tmp_path: Path, pad_mode: str, stride: int) -> None:
    check_list(
        video,
        tmp_path,
        "{vp8_webm} 1",
        "",
        "{vp8_webm}\t2  2 12",
        "{mjpeg_avi} 3 20 27",
        file_list_format="frames",
        sequence_length=5,
        stride=stride,
        pad_mode=pad_mode,
    )


@pytest.mark.filterwarnings("ignore")
def test_uniform_samples_of_ranges(video: Video, tmp_path: Path) -> None:
    check_list(
        video,
        tmp_path,
        "{vp8_webm} 3 4 9",
        "{vp8_webm} 2 20 25",
        file_list_format="frames",
        uniform_sample=True,
        sequence_length=4,
    )


@pytest.mark.parametrize("ends", ["5 5", "7 5", "2 0", "31 40"])
def test_ranges_without_a_frame_are_skipped(video: Video, tmp_path: Path, ends: str) -> None:
    listing = tmp_path / "list.txt"
    path = linked(video("vp8.webm"), tmp_path)
    listing.write_text(f"{path} 3 {ends}\n{path} 1\n")
    arguments = everything(file_list=str(listing), file_list_format="frames", sequence_length=10)
    expected = read(reference, **arguments)
    with pytest.warns(UserWarning, match=r"line 1 of the file_list means no frame"):
        compare(read(dali_core, **arguments), expected)


@pytest.mark.parametrize("num_shards", [1, 2, 3])
@pytest.mark.parametrize("pads", [False, True])
@pytest.mark.parametrize("sticks", [False, True])
def test_shards(video: Video, num_shards: int, pads: bool, sticks: bool) -> None:
    for shard in range(num_shards):
        check(
            filenames=[str(video("vp8.webm")), str(video("mjpeg.avi"))],
            labels=[1, 2],
            num_shards=num_shards,
            shard_id=shard,
            pad_last_batch=pads,
            stick_to_shard=sticks,
            batch_size=3,
            sequence_length=4,
            enable_frame_num=True,
        )


@pytest.mark.parametrize(
    "arguments",
    [
        {"sequence_length": 40},
        {"sequence_length": 3, "pad_mode": "other"},
        {"sequence_length": 3, "enable_frame_num": "other"},
        {"sequence_length": 3, "enable_frame_num": "1"},
        {"sequence_length": 3, "labels": []},
        {"sequence_length": 3, "labels": [1, 2]},
        {"sequence_length": 3, "file_root": "/tmp"},
        {"sequence_length": 3, "filenames": []},
        {"sequence_length": 3, "filenames": [], "file_root": "/nowhere"},
        {"sequence_length": 3, "filenames": [], "file_list": "/nowhere"},
        {"sequence_length": 3, "fill_value": 256},
        {"sequence_length": 3, "fill_value": -1},
        {"sequence_length": 40, "pad_mode": "constant", "fill_value": [1, 2]},
        {"sequence_length": 3, "filenames": "/nowhere"},
        {"sequence_length": 3, "num_shards": 11},
    ],
    ids=str,
)
def test_invalid_arguments_raise_in_both(video: Video, arguments: dict[str, Any]) -> None:
    check_both_refuse(**{"filenames": str(video("vp8.webm"))} | arguments)


def decode(library: Any, names: Sequence[Path], per_sample: dict[str, Any], **more: Any) -> Any:
    data = [np.fromfile(name, np.uint8) for name in names]
    pipeline = library.Pipeline(len(data), 1, None, prefetch_queue_depth=1)
    with pipeline:
        source = library.fn.external_source
        nodes = {
            name: source(source=always([np.int32(value) for value in values]))
            for name, values in per_sample.items()
        }
        pipeline.set_outputs(
            library.fn.decoders.video(source(source=lambda: data), **nodes, **more)
        )
    pipeline.build()
    (batch,) = pipeline.run()
    return batch.dtype.name, batch.layout(), [np.array(batch.at(i)) for i in range(len(batch))]


def check_decoded(names: Sequence[Path], per_sample: dict[str, Any], **arguments: Any) -> Any:
    expected = decode(reference, names, per_sample, **arguments)
    actual = decode(dali_core, names, per_sample, **arguments)
    assert actual[:2] == expected[:2]
    compare_samples(actual[2], expected[2])
    return expected


@pytest.mark.parametrize("name", [*CODECS, *MJPEG, "vp9_full_range.webm", "vp9_one_frame.webm"])
def test_decoder_of_all_frames(video: Video, name: str) -> None:
    found = check_decoded([video(name)], {})
    assert found[2][0].ndim == 4


@pytest.mark.parametrize("pad_mode", PAD_MODES)
@pytest.mark.parametrize(
    "arguments",
    [
        {"start_frame": 10},
        {"start_frame": 10, "stride": 7},
        {"end_frame": 5},
        {"end_frame": 35},
        {"end_frame": 35, "stride": 2},
        {"start_frame": 25, "sequence_length": 5, "stride": 2},
        {"start_frame": 29, "sequence_length": 0},
        {"start_frame": 3, "sequence_length": 9, "stride": 4},
        {"sequence_length": 70},
        {"frames": [3, 1, 1, 29]},
        {"frames": 5},
        {"frames": []},
    ],
    ids=str,
)
def test_decoder(video: Video, pad_mode: str, arguments: dict[str, Any]) -> None:
    check_decoded([video("vp8.webm")], {}, pad_mode=pad_mode, **arguments)


@pytest.mark.parametrize("pad_mode", PAD_MODES[1:])
@pytest.mark.parametrize("frames", [[3, 30], [-1, 2], [30, 31, 33, 200, 100], [-3, -40]], ids=str)
def test_padding_of_listed_frames(video: Video, pad_mode: str, frames: list[int]) -> None:
    check_decoded([video("vp8.webm")], {}, pad_mode=pad_mode, frames=frames, fill_value=[9, 8, 7])


def test_arguments_of_each_sample(video: Video) -> None:
    names = [video("vp8.webm"), video("vp8_odd.webm"), video("mjpeg.avi")]
    check_decoded(names, {"frames": [[3, 1], [7, 0, 29], [5]]})
    check_decoded(
        names,
        {"start_frame": [3, 0, 9], "sequence_length": [2, 5, 1], "stride": [1, 2, 3]},
    )
    check_decoded(names, {"start_frame": [3, 0, 9], "end_frame": [5, 9, 33]}, fill_value=4)
    check_decoded(names, {}, build_index=False, frames=[12, 3])


@pytest.mark.parametrize(
    "arguments",
    [
        {"frames": [3, 30], "pad_mode": "none"},
        {"frames": [-1], "pad_mode": "none"},
        {"start_frame": 30, "sequence_length": 2},
        {"start_frame": 30, "sequence_length": 2, "pad_mode": "none"},
        {"start_frame": 5, "end_frame": 5},
        {"start_frame": 6, "end_frame": 5},
        {"end_frame": -5},
        {"sequence_length": -2},
        {"stride": -1},
        {"frames": [1], "start_frame": 1},
        {"frames": [1], "stride": 2},
        {"end_frame": 3, "sequence_length": 2},
        {"frames": [30], "fill_value": [9, 8]},
        {"fill_value": 256},
        {"pad_mode": "other"},
    ],
    ids=str,
)
def test_decoder_errors(video: Video, arguments: dict[str, Any]) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError, IndexError)):
            decode(library, [video("vp8.webm")], {}, **arguments)


def fed(
    library: Any, names: Sequence[Path], batch_size: int, depth: int, **arguments: Any
) -> list[Any]:
    """Feed all videos, and return the batches until there is none left."""
    pipeline = library.Pipeline(batch_size, 1, None, prefetch_queue_depth=depth)
    with pipeline:
        pipeline.set_outputs(library.fn.experimental.inputs.video(name="videos", **arguments))
    pipeline.build()
    for name in names:
        pipeline.feed_input("videos", [np.fromfile(name, np.uint8)])
    count = sum(
        math.ceil(math.ceil(frames / arguments["sequence_length"]) / batch_size)
        for frames in (1 if "one_frame" in name.name else 30 for name in names)
    )
    batches = [pipeline.run()[0] for _ in range(count - depth + 1)]
    return [
        (batch.dtype.name, batch.layout(), [np.array(batch.at(i)) for i in range(len(batch))])
        for batch in batches
    ]


@pytest.mark.parametrize("policy", ["partial", "pad"])
@pytest.mark.parametrize(("batch_size", "length"), [(3, 7), (3, 8), (1, 40), (4, 15), (2, 1)])
@pytest.mark.parametrize("depth", [1, 2])
def test_fed_videos(video: Video, policy: str, batch_size: int, length: int, depth: int) -> None:
    names = [video(name) for name in ("vp8.webm", "vp9_one_frame.webm", "mjpeg.avi")]
    arguments = {"sequence_length": length, "last_sequence_policy": policy}
    expected = fed(reference, names, batch_size, depth, **arguments)
    actual = fed(dali_core, names, batch_size, depth, **arguments)
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours[:2] == theirs[:2]
        compare_samples(ours[2], theirs[2])
