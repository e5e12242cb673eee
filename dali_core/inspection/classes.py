"""Numbers of samples in the classes of readers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dali_core._execution.single_sample import Inspected
from dali_core._graph.node import OperatorNode
from dali_core._readers.protocol import DataSource

_MOST_SHOWN = 24


@dataclass(frozen=True)
class ClassCount:
    """Samples of a class.

    Attributes
    ----------
    label : int
        Its number.
    name : str
        Its folder; empty if it has none.
    count : int
        Number of samples.
    share : float
        That number, divided by that of the largest class.
    """

    label: int
    name: str
    count: int
    share: float


@dataclass(frozen=True)
class ClassHistogram:
    """Classes of a reader.

    Attributes
    ----------
    reader : str
        Name of the reader.
    num_samples, num_classes : int
        How many there are.
    classes : tuple of ClassCount
        The classes by their labels; of many, the largest and the smallest, by size.
    is_complete : bool
        Whether all classes are listed.
    """

    reader: str
    num_samples: int
    num_classes: int
    classes: tuple[ClassCount, ...]
    is_complete: bool


def class_histograms(inspected: Inspected) -> list[ClassHistogram]:
    """Count the samples of classes, for each reader that knows labels."""
    histograms = []
    for node, reader in inspected.readers.items():
        labels = reader.source.labels
        if labels is None or not len(labels):
            continue
        numbers = np.asarray(labels)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            continue
        found, first, counts = np.unique(numbers, return_index=True, return_counts=True)
        if len(found) == len(numbers) > 1:  # numbers of samples, as of files without labels
            continue
        names = _names(node, reader.source, dict(zip(found.tolist(), first.tolist(), strict=True)))
        largest = int(counts.max())
        classes = [
            ClassCount(label, names.get(label, ""), count, count / largest)
            for label, count in zip(found.tolist(), counts.tolist(), strict=True)
        ]
        is_complete = len(classes) <= _MOST_SHOWN
        if not is_complete:
            classes.sort(key=lambda entry: -entry.count)
            classes = classes[: _MOST_SHOWN // 2] + classes[-_MOST_SHOWN // 2 :]
        histograms.append(
            ClassHistogram(node.name, len(numbers), len(found), tuple(classes), is_complete)
        )
    return histograms


def _names(node: OperatorNode, source: DataSource, first: Mapping[int, int]) -> dict[int, str]:
    """Return the folders of classes, where a reader numbers folders."""
    arguments = node.arguments
    files: Any = getattr(source, "files", None)
    listed = any(arguments.get(name) is not None for name in ("files", "file_list"))
    if files is None or listed or not arguments.get("file_root"):
        return {}
    names = {
        label: os.path.dirname(files[index]).rpartition(os.sep)[2] for label, index in first.items()
    }
    return names if len(set(names.values())) == len(names) else {}
