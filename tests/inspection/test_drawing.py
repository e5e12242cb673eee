"""Pictures of graphs: nothing overlaps, they are complete, and any text is escaped."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, pipeline_def, types
from dali_core.inspection.layered_layout import Box, Line, place

SVG = "{http://www.w3.org/2000/svg}"
NAME = "a <b> & \"c\" 'd' \\n \u00e9\u4e16\x07\x01"


def graph(name: str = NAME) -> Pipeline:
    with Pipeline(3, 1, None) as made:
        data, label = fn.readers.file(file_root="somewhere", name=name)
        image = fn.decoders.image(data)
        turned = fn.rotate(image, angle=fn.random.uniform(range=[-5.0, 5.0]))
        normal = fn.crop_mirror_normalize(
            turned,
            crop=[5, 5],
            crop_pos_x=fn.random.uniform(),
            crop_pos_y=fn.random.uniform(),
            mirror=fn.random.coin_flip(),
        )
        fn.copy(normal)  # not needed
        own = fn.python_function(label, function=np.negative)
        made.set_outputs(normal, own, image)
    return made


def picture(made: Pipeline) -> ET.Element:
    text = made._repr_svg_()
    assert text is not None
    return ET.fromstring(text)


def frames(root: ET.Element) -> list[tuple[float, float, float, float]]:
    """Return left, top, right and bottom of each box."""
    found = []
    for rect in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return found


def overlaps(
    one: tuple[float, float, float, float], two: tuple[float, float, float, float]
) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def test_everything_that_is_needed_is_drawn() -> None:
    root = picture(graph())
    texts = [text.text for text in root.iter(f"{SVG}text") if "class" not in text.attrib]
    assert sorted(filter(None, texts)) == sorted(
        [
            "readers.file",
            "'a <b> & \"c\" 'd' \\n \u00e9\u4e16\ufffd\ufffd'",
            "decoders.image",
            "rotate",
            *["random.uniform"] * 3,
            "random.coin_flip",
            "crop_mirror_normalize",
            "python_function",
            "output 0",
            "output 1",
            "output 2",
        ]
    )
    labels = {text.text for text in root.iter(f"{SVG}text") if "class" in text.attrib}
    assert labels == {"angle", "crop_pos_x", "crop_pos_y", "mirror"}
    paths = list(root.iter(f"{SVG}path"))
    assert len(paths) == 2 * 11  # with a head for each line
    assert sum(path.get("class") == "side" for path in paths) == len(labels)
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert sum("test_drawing.py:" in title for title in titles) == 9


def test_boxes_do_not_overlap_and_contain_their_texts() -> None:
    root = picture(graph())
    boxes = frames(root)
    assert len(boxes) == 12
    assert not any(overlaps(*pair) for pair in itertools.combinations(boxes, 2))
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    for group, box in zip(root.iter(f"{SVG}g"), boxes, strict=True):
        assert box[0] >= left
        assert box[1] >= top
        assert box[2] <= left + width
        assert box[3] <= top + height
        for text in group.iter(f"{SVG}text"):
            half = 3.6 * len(text.text or "")  # a letter is 7.2 wide
            assert box[0] <= float(text.attrib["x"]) - half
            assert float(text.attrib["x"]) + half <= box[2]
            assert box[1] < float(text.attrib["y"]) < box[3]


def test_branches() -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
    def branching() -> Any:
        data = fn.external_source(name="data")
        if fn.random.coin_flip(dtype=types.BOOL):
            data = fn.copy(data)
        else:
            data = fn.cast(data, dtype=types.FLOAT)
        return data

    root = picture(branching())
    labels = [text.text for text in root.iter(f"{SVG}text") if "class" in text.attrib]
    assert sorted(filter(None, labels)) == ["if", "if not"]
    assert not any(overlaps(*pair) for pair in itertools.combinations(frames(root), 2))


def test_the_picture_of_a_graph_is_always_the_same(tmp_path: Path) -> None:
    graph("photos").save_graph_to_svg_file(tmp_path / "graph.svg")
    text = (tmp_path / "graph.svg").read_text("utf-8")
    assert text == graph("photos")._repr_svg_()
    assert text.isascii()


def test_pipelines_without_outputs_have_no_picture() -> None:
    assert Pipeline(1, 1, None)._repr_svg_() is None


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_layouts(data: st.DataObject) -> None:
    sizes = st.floats(1, 200).map(lambda size: round(size, 1))
    boxes = [Box(data.draw(sizes), data.draw(sizes)) for _ in range(data.draw(st.integers(1, 9)))]
    pairs = list(itertools.combinations(range(len(boxes)), 2))
    ends = data.draw(st.lists(st.sampled_from(pairs), max_size=14)) if pairs else []
    lines = [Line(boxes[start], boxes[end]) for start, end in ends]
    width, height = place(boxes, lines)
    bends = [bend for line in lines for bend in line.bends]
    placed = [
        (
            box.x - box.width / 2,
            box.y - box.height / 2,
            box.x + box.width / 2,
            box.y + box.height / 2,
        )
        for box in [*boxes, *bends]
    ]
    for left, top, right, bottom in placed:
        assert left >= -1e-6
        assert top >= -1e-6
        assert right <= width + 1e-6
        assert bottom <= height + 1e-6
    for one, two in itertools.combinations(placed, 2):
        shrunk = (two[0] + 1e-6, two[1] + 1e-6, two[2] - 1e-6, two[3] - 1e-6)
        assert not overlaps(one, shrunk)
    for line in lines:
        stops = [(stop.layer, stop.y) for stop in line.stops]
        assert stops == sorted(stops)
        layers = [layer for layer, _ in stops]
        assert layers == list(range(layers[0], layers[-1] + 1))


@pytest.mark.parametrize("count", [1, 40])
def test_large_graphs(count: int) -> None:
    with Pipeline(3, 1, None) as made:
        value = fn.random.uniform()
        values = [value]
        for number in range(count):
            values.append(fn.stack(*values[-3:]) if number % 2 else fn.copy(values[-1]))
        made.set_outputs(*values[-2:])
    boxes = frames(picture(made))
    assert len(boxes) == count + 3
    assert not any(overlaps(*pair) for pair in itertools.combinations(boxes, 2))
