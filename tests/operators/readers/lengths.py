"""Lengths of samples as readers declare them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core import Pipeline, fn
from dali_core._execution.readers import Readers
from dali_core.testing.examples import list_of


def declared_lengths(name: str, *inputs: Any, **arguments: Any) -> NDArray[np.int64] | None:
    """Return the lengths that the data set of a reader declares."""
    with Pipeline(1, 1, None):
        outputs = list_of(operator.attrgetter(name)(fn)(*inputs, **arguments))
        node = outputs[0].source
        while node.spec.reader is None:
            node = node.inputs[0].source
    return Readers([node]).by_node[node].source.lengths
