"""Points, boxes and anchors on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_coord_transform_of_frames() -> None:
    run(
        """
points = made([(3, 40, 2), (1, 7, 2), (3, 0, 2)], "float32")
matrices = [np.float32(np.random.default_rng(i).random((n, 3, 2))) for i, n in enumerate((3, 4, 1))]
for dtype in (types.FLOAT, types.UINT8, types.INT64):
    compare(
        lambda x: fn.coord_transform(
            x, M=fn.per_frame(fn.external_source(lambda: matrices)), T=[1.5, 2, 3], dtype=dtype
        ),
        [points],
        "FNC",
    )
"""
    )


def test_box_encoder_anchors() -> None:
    """As many anchors as threads take turns for, with boxes that overlap equally."""
    run(
        """
random = np.random.default_rng(2)
corners = np.sort(random.random((300, 2, 2)).round(1), axis=1).astype(np.float32)
anchors = corners.reshape(-1, 4)
boxes = [anchors[:9], anchors[40:41], anchors[:0]]
labels = [np.arange(1, len(x) + 1, dtype=np.int32) for x in boxes]
for offset in (False, True):
    encoded, numbers = compare(
        lambda box, label: fn.box_encoder(
            box, label, anchors=anchors.ravel().tolist(), offset=offset, criteria=0.3
        ),
        [boxes, labels],
    )
    assert (numbers[0] > 0).sum() > 9 and not numbers[2].any()
"""
    )
