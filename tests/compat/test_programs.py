"""Programs for NVIDIA DALI run unmodified, with known results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.compat.outputs import PROGRAMS, run_with


def output_of(name: str, tmp_path: Path) -> list[list[str]]:
    output = run_with("-W", "error", "-m", "dali_core.compat", program=PROGRAMS[name], cwd=tmp_path)
    return [line.split() for line in output.splitlines()]


def rows(lines: list[list[str]], word: str) -> list[list[float]]:
    return [[float(number) for number in line[1:]] for line in lines if line[0] == word]


def test_every_program_is_tested() -> None:
    tests = set(re.findall(r"def test_(\w+)", Path(__file__).read_text("utf-8")))
    assert set(PROGRAMS) <= tests
    assert len(PROGRAMS) >= 5
    for path in PROGRAMS.values():
        assert "dali_core" not in path.read_text("utf-8")


def test_imagenet_training(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="not available: PyTorch")
    lines = output_of("imagenet_training", tmp_path)
    assert rows(lines, "batches") == [[4, 4]]
    # A padded last batch is returned without its padding.
    assert rows(lines, "labels") == [[epoch, 5, 5, 5] for epoch in range(6)]
    found = rows(lines, "validation")
    assert [len(row) for row in found] == [9, 9, 9, 7]
    labels = [label for row in found for label in row[1 : 1 + len(row) // 2]]
    assert labels == [0] * 5 + [1] * 5 + [2] * 5
    means = [mean for row in found for mean in row[1 + len(row) // 2 :]]
    for lower, upper in ((0, 5), (5, 10)):  # images of later classes are brighter
        assert max(means[lower : lower + 5]) < min(means[upper : upper + 5])
    assert rows(lines, "accuracy")[0][0] > 0.9
    assert rows(lines, "shard") == [[0] + [0] * 5 + [1] * 2, [1] + [1] * 3 + [2] * 5]


def test_subclass_pipeline(tmp_path: Path) -> None:
    lines = output_of("subclass_pipeline", tmp_path)
    expected = []
    for first in (0, 2, 4):
        images = [
            (np.arange(6 * (4 + i % 3) * 3).reshape(6, 4 + i % 3, 3) + i).astype(np.uint8)[:, ::-1]
            for i in (first, first + 1)
        ]
        crops = [image[2:6, :4].astype(int).sum() for image in images]
        sums = [image.astype(int).sum() for image in images]
        corners = [image[0, 0, 0] for image in images]
        expected.append([first, first + 1, *crops, *sums, *corners])
    found = rows(lines, "batch")
    assert found == [[epoch, *row] for epoch in (0, 1) for row in expected]
    assert lines[-1][1:4] == ["CHW", "HWC", "int32"]


def test_operators_outside(tmp_path: Path) -> None:
    lines = output_of("operators_outside", tmp_path)
    assert rows(lines, "constant") == [[0, 1, 1], [1, 1, 1]]
    numbers = [[[n, 10 * n, 1, 10 * n + 1, 2] for n in (0, 1)] for _ in range(2)]
    scaled = [[n, 20 * n + 1, 4, 20 * n + 3, 6] for n in (0, 1)]
    argument = [row for pair in zip(scaled, numbers[0], strict=True) for row in pair]
    assert rows(lines, "argument") == argument * 2
    assert rows(lines, "chosen") == [[0, 5, 1], [1, 5, 1]]
    assert [row[1:] for row in rows(lines, "derived")][:2] == [[-1, -1, 0, 0], [0, 2, 2, 4]]
    never = [[float(word) for word in line[2:]] for line in lines if line[0] == "never"]
    assert [row for row in never if len(row) == 5] == numbers[0]
    assert rows(lines, "fed") == [[31, 2, 32, 3]]


def test_operator_objects(tmp_path: Path) -> None:
    lines = output_of("operator_objects", tmp_path)
    assert [line for line in lines if line[0] == "seed"] == [["seed", "['DeprecationWarning']"]] * 2
    images = np.arange(24).reshape(2, 2, 2, 3)
    turned = np.rot90(images, axes=(1, 2))
    found = [
        json.loads(" ".join(line[-number:]))
        for line in lines
        if line[0] == "augmented"
        for number in [next(-i for i in range(-1, -50, -1) if line[i][0] == "[")]
    ]
    expected = [turned, (turned + 1)[..., 0], (turned + 1)[..., 1:]]
    assert found == [part.ravel().tolist() for part in expected] * 2
    assert [line for line in lines if line[0] == "decided"] == [
        ["decided", "()", "()", "-", "[3,", "4]"]
    ]
    assert len([line for line in lines if line[0] == "chosen"]) == 1


def test_python_sources(tmp_path: Path) -> None:
    lines = output_of("python_sources", tmp_path)
    tables = rows(lines, "table")
    expected = []
    for epoch in (0, 1):
        order = np.random.default_rng(7 + epoch).permutation(10)
        for chosen in (order[0:3], order[3:6], order[6:9]):
            longest = max(chosen)
            expected.append(
                [
                    epoch,
                    *(index**2 for index in chosen),
                    *(index * (index + 1) / 2 - (longest - index) for index in chosen),
                    *(index + 1 for index in chosen),
                    *(index * (index + 1) / 4 + index + 1 for index in chosen),
                ]
            )
    assert [len(row) for row in tables] == [13] * 12
    # With processes the same as without.
    assert tables == [pytest.approx(row, abs=1e-4) for row in expected + expected]
    assert [line for line in lines if line[0] == "batches"] == [
        ["batches", f"{epoch}", f"{10 * i}", f"{10 * i + 1}", f"{10 * i + 2}", "'line", f"{i}.2'"]
        for epoch in (0, 1)
        for i in range(3)
    ]

    chosen = np.random.default_rng(9).permutation(6)
    expected = []
    for part in (chosen[:3], chosen[3:]):
        results = []
        for index in part:
            values = np.arange(index + 1)
            if index in (3, 5):
                results.append(sum((values + 1) * 2 - np.sqrt(values)) + 0.5)
            else:
                results.append(sum(values[1:]) if index > 1 else sum(values) - 1)
        squares = part**2
        expected.append([*squares, *results, *(squares // 2), *(squares % 5 == 1).astype(int)])
    assert rows(lines, "decided") == [pytest.approx(row, abs=1e-4) for row in expected]


def test_tensor_lists(tmp_path: Path) -> None:
    lines = output_of("tensor_lists", tmp_path)
    assert rows(lines, "epoch") == [[6, 6]]
    assert rows(lines, "lengths") == [[4, 5, 6, 4], [5, 6, 6, 6], [4, 5, 6, 4]]
    assert rows(lines, "sums") == [[6, 10, 15, 10], [15, 21, 21, 21], [6, 10, 15, 10]]
    assert rows(lines, "values") == [[2 * n * (3 + i) for i in range(4)] for n in range(3)]
    assert rows(lines, "whole") == [[160]]
    assert ["tensor", "[1,", "5,", "1]", "HWC", "True"] in lines
    assert lines[-1] == ["same", "[5]", "True"]


def test_auto_augmentation(tmp_path: Path) -> None:
    lines = output_of("auto_augmentation", tmp_path)
    values = np.arange(50, 54)
    assert rows(lines, "rand") == [(values + 15).tolist()]
    assert rows(lines, "trivial") == [(255 - values).tolist()]
    assert rows(lines, "auto") == [(255 - (values + 8)).tolist()]
    assert rows(lines, "select") == [(values + np.array([10, 5, 10, 5])).tolist()]
    assert rows(lines, "moved") == [(values + np.array([100, 0, 100, 0])).tolist()]
    shapes = [line for line in lines if line[0] == "shapes"]
    assert shapes == [["shapes", "20", "22", "24", "26", "DALIDataType.UINT8"]]
    assert [len(line) for line in lines[-2:]] == [15, 16]


def test_detection_augmentation(tmp_path: Path) -> None:
    lines = output_of("detection_augmentation", tmp_path)
    boxes = [line for line in lines if line[0] == "boxes"]
    sizes = rows(lines, "sizes")
    assert len(boxes) == len(sizes) == 8
    for number, (line, size) in enumerate(zip(boxes, sizes, strict=True)):
        for i in range(16):
            rng = np.random.default_rng(16 * number + i)
            assert [size[i], size[16 + i]] == rng.integers(40, 80, 2).tolist()
            assert int(line[1 + i]) == rng.integers(1, 4)
        assert line[-5:] == ["(16,", "3,", "32,", "32)", "float32"]
    assert lines[-3] == ["mirrored", "about", "half", "True", "[0,", "1]"]
    assert lines[-2] == ["angles", "True", "True", "True"]


def test_iterator_attributes(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="not available: PyTorch")
    lines = output_of("iterator_attributes", tmp_path)
    shown = [line for line in lines if line[0] == "DALIClassificationIterator"]
    assert [int(line[1]) for line in shown] == [12, 8, 12, 8, *[10] * 8]
    assert {line[4] for line in shown} == {"4"}
    steps = [line for line in lines if line[0] == "step"]
    progress = [line[2] for line in steps]
    first, shorter = ["0/3", "1/3", "2/3"], ["0/2", "1/2"]
    dropping = ["0/3", "1/3"] * 3
    assert progress == [*first, *shorter, *first, *dropping, *first * 3]
    assert steps[2][3:] == ["8", "9", "0", "1", "12"]  # with the first two of the next epoch
    assert steps[-1][3:] == ["8", "9", "12"]
    merged = [line for line in lines if line[0] == "merged"]
    assert [line[1:4] for line in merged] == [
        ["0", "8", "4"],
        ["0", "8", "8"],
        ["1", "4", "7"],
        ["2", "4", "6"],
    ]


def test_own_iterator(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="not available: PyTorch")
    lines = [" ".join(line) for line in output_of("own_iterator", tmp_path)]
    assert lines[:5] == [
        "numpy FILL 0 [[0, 1, 2], [100, 101, 102]] 6",
        "numpy FILL 0 [[3, 4, 5], [103, 104, 105]] 12",
        "numpy FILL 1 [[6, 7, 8], [106, 107, 108]] 8",
        "numpy FILL 1 [[9, 10, 11], [109, 110, 111]] 14",
        "numpy FILL 2 [[12, 13, 14], [112, 113, 114]] 10",
    ]
    assert "numpy PARTIAL 2 [[15, 16, 17], [115]] 12" in lines
    assert sum(line.startswith("numpy DROP") for line in lines) == 3
    assert lines.count("length 3 8") == 3
    assert lines[-1] == "flat PARTIAL 1 [22, 23]"


def test_epochs_of_sources(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="not available: PyTorch")
    lines = [" ".join(line) for line in output_of("epochs_of_sources", tmp_path)]
    assert lines[:3] == [
        "length 0 -1 -1",
        "unknown 0 [[[0, 1]], [[10, 11]], [[20]]]",
        "unknown 1 [[[0, 1]], [[10, 11]], [[20]]]",
    ]
    for policy in ("FILL", "DROP", "PARTIAL"):
        start = lines.index(f"short {policy} [[0, 1]]")
        assert lines[start + 1 : start + 3] == [
            f"short {policy} [[10, 11]]",
            f"short {policy} refused",
        ]
    assert "rest [[[10, 11]], [[20, 21]]]" in lines
    assert lines.count("disagreeing 1 [] 4") == lines.count("disagreeing 2 [] 4") == 1
    epoch = "[[[0, 1]], [[10, 11]], [[20, 21]]]"
    # After the end of an epoch no batch is left, unless the first batch is prepared.
    assert [line.split(" ", 4)[4] for line in lines if line.startswith("resumed")] == [
        *("[]", epoch, epoch),
        *(epoch, epoch, epoch),
    ] * 2


def test_spawned_workers(tmp_path: Path) -> None:
    lines = output_of("spawned_workers", tmp_path)
    assert rows(lines, "batch") == [
        [value for number in range(first, first + 3) for value in (number**2, epoch)]
        for epoch in (0, 1)
        for first in (0, 3, 6)
    ]


def test_imported_names(tmp_path: Path) -> None:
    lines = output_of("imported_names", tmp_path)
    assert lines[0] == ["version", "2.4.0", "True", "-1"]
    assert [line[-1] for line in lines[2:7]] == ["True"] * 5
    assert ["(True,", "False)", "(False,", "False)"] in lines
    assert ["cpu", "gpu", "True"] in lines
    assert rows(lines, "served") == [[1, 2, 1, 2]]
    assert rows(lines, "decided") == [[1, 20]]
    assert [line[0] for line in lines].count("no") == 5


def test_private_names(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="not available: PyTorch")
    pytest.importorskip("jax", reason="not available: JAX")
    lines = [" ".join(line) for line in output_of("private_names", tmp_path)]
    assert "schema reductions__RMS ['reductions'] RMS" in lines
    assert "schema RandomBBoxCrop [] RandomBBoxCrop" in lines
    assert lines.count("no such operator") == lines.count("unused argument") == 1
    assert "magnitudes 0.000 0.100 0.200 0.300" in lines
    divided = [line.partition(" ")[2] for line in lines if line.startswith("divided")]
    assert divided[0] == "[[-1.0, -1.0], [102.0, 102.0], [4.0, 4.0], [-1.0, -1.0]]"
    assert lines[-2:] == ["pool True 2", "prefetched [0, 1]"]


def test_detection_classes(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="not available: PyTorch")
    lines = output_of("detection_classes", tmp_path)
    batches = [line for line in lines if line[0] == "batch"]
    # Five images in batches of two: the last one is cut.
    assert [int(line[2]) for line in batches] == [2, 2, 1] * 4
    assert {tuple(line[3:]) for line in batches} == {
        ("3", "32", "32", "torch.float32", "torch.float32", "torch.int32")
    }
    # Boxes of two classes in each image but those with one; the last one gets a shared anchor.
    labels = [
        [label for label in row[begin : begin + 20] if label]
        for row in rows(lines, "labels")
        for begin in range(0, len(row), 20)
    ]
    # Without padding by the reader, a sample of the second epoch is lost with the cut batch.
    assert labels[5:] == [*labels[1:5], labels[0]]
    assert [{*labels[number]} for number in (0, 3)] == [{1}, {1}]
    assert all({*found} <= {1, 2} for found in labels)
    means = [mean for row in rows(lines, "mean") for mean in row]
    assert means[5:] == [*means[1:5], means[0]]


def test_detection_functions(tmp_path: Path) -> None:
    lines = output_of("detection_functions", tmp_path)
    assert rows(lines, "size") == [[3, 1]] * 3
    # The last image is repeated.
    assert rows(lines, "ids") == [[5, 6, 40, 60, 3, 60, 40, 3], [7, 7, 50, 50, 3, 50, 50, 3]] * 3
    sums = rows(lines, "sums")
    # Boxes in pixels of the padded image, with rows of -1 behind them.
    boxes = []
    for number, (height, width) in enumerate([(40, 60), (60, 40), (50, 50)]):
        corners = [np.array([2, 3, 16, 18]) + np.array([5, 4, 5, 4]) * k for k in range(number + 1)]
        total = sum(
            corner[[0, 2]].sum() / width + corner[[1, 3]].sum() / height for corner in corners
        )
        boxes.append(32 * total - 4 * (5 - number))
    assert sums[4] + sums[10][:1] == [pytest.approx(value, abs=2e-3) for value in boxes]
    assert sums[5] + sums[11] == [1 - 5, 3 - 4, 6 - 3, 6 - 3]


def test_record_files(tmp_path: Path) -> None:
    lines = output_of("record_files", tmp_path)
    assert [line[1:3] for line in lines if line[0] == "labels"] == [
        [f"{label:.1f}" for label in pair] for pair in ([0, 1], [2, 3], [4, 0])
    ] * 2
    boxes = [row[-2:] for row in rows(lines, "shapes")]
    assert boxes == [[0, 1], [2, 3], [4, 0]] * 2
    mean, std = np.array([123.68, 116.28, 103.53]), np.array([58.395, 57.120, 57.385])
    expected = [((np.array([50 * i, 90, 120]) - mean) / std).mean() for i in range(5)]
    found = [mean for row in rows(lines, "means") for mean in row]
    assert found == pytest.approx([*expected, expected[0]] * 2, abs=2e-3)


def test_former_names(tmp_path: Path) -> None:
    lines = output_of("former_names", tmp_path)
    labels = [line[1:] for line in lines if line[0] == "labels"]
    assert labels == [["0", "1", "2"], ["0", "1", "2"], ["0", "0", "1"]]
    mean, std = np.array([0.485, 0.456, 0.406]) * 255, np.array([0.229, 0.224, 0.225]) * 255
    values = [((20 * number + 5 - mean) / std).mean() for number in range(7)]
    found = rows(lines, "means")
    assert [value for row in found[:3] for value in row] == pytest.approx(
        [*values, *values[:2]], abs=2e-3
    )
    # Of four planes one is padding.
    assert found[3] == pytest.approx([value * 3 / 4 for value in values[:3]], abs=2e-3)
    assert found[4] == pytest.approx(values[:3], abs=2e-3)
    numbers = [line[1:] for line in lines if line[0] == "numbers"]
    assert numbers == [[f"{i}", f"{i + 1}", "PARTIAL"] for i in (0, 2, 4)] * 2


def test_self_supervised(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="not available: PyTorch")
    lines = [" ".join(line) for line in output_of("self_supervised", tmp_path)]
    batch = [
        *["view 4 3 24 24 torch.float32 True"] * 2,
        *("view 4 3 16 16 torch.float32 True", "same True", "grey True"),
    ]
    for epoch in (0, 1):
        # Of eleven images the last three are dropped.
        expected = [f"batch {epoch} 4 True", *batch] * 2 + [f"samples {epoch} 8"]
        assert lines[1 + 13 * epoch : 14 + 13 * epoch] == expected
    assert lines[0] == "loader 2 11 True"
