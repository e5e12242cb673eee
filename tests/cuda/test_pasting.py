"""Canvases on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_paste() -> None:
    """Rows of any number of bytes, with colours of any number of channels."""
    run(
        """
shapes = [(1, 1), (9, 40), (33, 17), (16, 64), (4, 6)]
for channels in range(1, 7):
    images = made([(*shape, channels) for shape in shapes])
    colour = [200, 100, 50, 25, 12, 6][:channels]
    ratios = [np.float32(x) for x in (1, 1.3, 2.5, 1.0, 4.5)]
    (canvases,) = compare(
        lambda image: fn.paste(
            image, ratio=fn.external_source(lambda: ratios), fill_value=colour, paste_x=0.3
        ),
        [images],
        "HWC",
    )
    assert canvases[2][0, 0].tolist() == colour
"""
    )


def test_paste_frames() -> None:
    run(
        """
clips = made([(3, 5, 11, 3), (1, 8, 4, 3)])
places = [np.float32([0, 0.5, 1]), np.float32([0.25])]
(pasted,) = compare(
    lambda clip: fn.paste(
        clip,
        ratio=2.0,
        fill_value=9,
        paste_x=fn.per_frame(fn.external_source(lambda: places)),
    ),
    [clips],
    "FHWC",
)
assert (pasted[0][2, 2:7, -11:] == clips[0][2]).all()

(same,) = compare(lambda clip: fn.paste(clip, ratio=1.0, fill_value=9), [clips], "FHWC")
assert (same[0] == clips[0]).all()

# Frames become canvases of one shape, or an error.
ratios = [np.float32([1, 2, 3])]
for device in ("cpu", "gpu"):
    def different(clip):
        numbers = fn.per_frame(fn.external_source(lambda: ratios))
        return fn.paste(clip, ratio=numbers, fill_value=0)
    try:
        outputs(different, [clips[:1]], "FHWC", device)
    except DaliCoreError as error:
        assert "one type and shape" in str(error), error
    else:
        raise AssertionError(device)
"""
    )


def test_multi_paste_regions() -> None:
    """Later regions cover earlier ones; each is of any image of the batch."""
    run(
        """
for layout, lead in (("HWC", ()), ("FHWC", (2,))):
    for dtype, to in (("uint8", None), ("int16", None), ("float32", types.UINT8),
                      ("uint8", types.FLOAT16), ("float64", types.INT64)):
        images = made([(*lead, 20, 30, 3), (*lead, 40, 21, 3), (*lead, 20, 20, 3)], dtype)
        starts = np.int32([[0, 0], [3, 5], [2, 1]])
        shapes = np.int32([[20, 17], [9, 7], [0, 4]])
        places = np.int32([[0, 3], [11, 2], [0, 0]])
        ids = [np.int32(x) for x in ([0, 1, 2], [2, 1, 0], [1, 1, 1])]
        (canvases,) = compare(
            lambda image: fn.multi_paste(
                image,
                in_ids=fn.external_source(lambda: ids),
                output_size=[30, 23],
                in_anchors=starts.ravel().tolist(),
                shapes=shapes.ravel().tolist(),
                out_anchors=places.ravel().tolist(),
                **({} if to is None else {"dtype": to}),
            ),
            [images],
            layout,
        )
        assert (canvases[0][..., 11:20, 2:9, :] == images[1][..., 3:12, 5:12, :]).all()
        assert (canvases[0][..., 0:11, 3:20, :] == images[0][..., 0:11, 0:17, :]).all()
        assert not canvases[0][..., 20:, :, :].any()
"""
    )


def test_multi_paste_source_info() -> None:
    """The files that regions are from are those of the host."""
    run(
        """
import tempfile
from pathlib import Path

def sources(device, folder):
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=0)
    with pipeline:
        contents, _ = fn.readers.file(files=[f"{folder}/{name}" for name in "ab"])
        image = fn.reinterpret(contents, shape=[2, 2, 3], layout="HWC")
        image = image.gpu() if device == "gpu" else image
        pipeline.set_outputs(fn.multi_paste(image, in_ids=[1, 0], output_size=[4, 4]))
    (batch,) = pipeline.run()
    return [tensor.source_info() for tensor in batch]

with tempfile.TemporaryDirectory() as folder:
    for name in "ab":
        Path(folder, name).write_bytes(b"x" * 12)
    assert sources("gpu", folder) == sources("cpu", folder) == [f"{folder}/b;{folder}/a"] * 2
"""
    )
