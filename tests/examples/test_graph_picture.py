"""The graph of a pipeline becomes a picture without Graphviz."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

graph_picture = pytest.importorskip("examples.graph_picture", reason="matplotlib is not installed")

DOT = r"""
digraph pipeline {
  rankdir=TB;
  node [shape=box, fontname=sans];
  op0 [label="readers.file\nphotos; \"all\""];
  op1 [label="decoders.image"];
  op2 [label="random.coin_flip"];
  op3 [label="flip", style=filled, fillcolor="#bfd7ea"];
  out0 [label="output 0", shape=plaintext];
  out1 [label="output 1", shape=plaintext];
  op0 -> op1; op1 -> op3;
  op2 -> op3 [label="horizontal", style=dashed];
  op3 -> out0;
  op0 -> out1;
}
"""


def test_read_dot() -> None:
    graph = graph_picture.read_dot(DOT)
    assert list(graph.nodes) == ["op0", "op1", "op2", "op3", "out0", "out1"]
    assert graph.nodes["op0"]["label"] == 'readers.file\nphotos; "all"'
    assert graph.nodes["op3"]["fillcolor"] == "#bfd7ea"
    assert graph.edges["op2", "op3"] == {"label": "horizontal", "style": "dashed"}
    assert set(graph.edges) == {
        ("op0", "op1"),
        ("op1", "op3"),
        ("op2", "op3"),
        ("op3", "out0"),
        ("op0", "out1"),
    }


def test_nodes_of_edges_need_no_statement_of_their_own() -> None:
    graph = graph_picture.read_dot("digraph g { a -> b; b -> c }")
    assert list(graph.nodes) == ["a", "b", "c"]


def test_statement_that_is_neither_node_nor_edge() -> None:
    with pytest.raises(ValueError, match="must be a node or an edge"):
        graph_picture.read_dot("digraph g { a -> ; }")


def test_png_shows_boxes_and_text(tmp_path: Path) -> None:
    dot_file, picture = tmp_path / "graph.dot", tmp_path / "graph.png"
    dot_file.write_text(DOT)
    graph_picture.draw(dot_file, picture)
    pixels = np.asarray(Image.open(picture).convert("RGB"))
    assert pixels.shape[0] > pixels.shape[1] / 2
    assert (pixels == (0xBF, 0xD7, 0xEA)).all(axis=2).sum() > 1000


def test_svg_has_every_label(tmp_path: Path) -> None:
    dot_file, picture = tmp_path / "graph.dot", tmp_path / "graph.svg"
    dot_file.write_text(DOT)
    graph_picture.draw(dot_file, picture)
    text = picture.read_text()
    ET.fromstring(text)
    for label in ("readers.file", "decoders.image", "horizontal", "output 1"):
        assert label in text


def test_layers_follow_the_edges_and_boxes_keep_apart() -> None:
    graph = graph_picture.read_dot(DOT)
    boxes, segments, _ = graph_picture.lay_out(graph)
    assert all(boxes[source].y < boxes[target].y for source, target in segments)
    placed = [box for box in boxes.values() if box.text]
    for box in placed:
        for other in placed:
            assert (
                box is other
                or abs(box.x - other.x) >= (box.width + other.width) / 2
                or abs(box.y - other.y) >= (box.height + other.height) / 2
            )
