"""Expressions on nodes, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import numpy

import dali_core
from dali_core import DataNode, fn, math, pipeline_def, types


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def compute() -> tuple[DataNode, ...]:
    """Compute with nodes, numbers, constants and arrays."""
    node: DataNode = fn.constant(fdata=[1.0, 2.0, 3.0, 4.0], shape=[2, 2])
    whole: DataNode = fn.constant(idata=[5, 6])
    scalar: types.ScalarConstant = types.ScalarConstant(2, types.INT16)
    row: DataNode = types.ConstantNode("cpu", [7, 8], types.INT32, None, "X")
    sums: DataNode = node + 1 - whole * 2 / numpy.float32(3) // 1
    more: DataNode = 2 ** (-node) % 3 + abs(+node) + types.Constant(3).uint8()
    bits: DataNode = (whole & 3 | 4 ^ whole) << 1 >> 1
    truths: DataNode = (node < 2) | (node >= 3) | (node == 4) & (node != 1)
    part: DataNode = node[0, 1:][dali_core.newaxis]
    functions: list[DataNode] = [
        *(math.abs(node), math.fabs(node), math.floor(node), math.ceil(node), math.sqrt(node)),
        *(math.rsqrt(node), math.cbrt(node), math.exp(node), math.log(node), math.log2(node)),
        *(math.log10(node), math.sin(node), math.cos(node), math.tan(node), math.sinh(node)),
        *(math.cosh(node), math.tanh(node), math.asinh(node), math.acosh(node), math.atan(node)),
        *(math.asin(node / 4), math.acos(node / 4), math.atanh(node / 5), math.atan2(node, 2)),
        *(math.pow(node, 2), math.fpow(node, 2), math.min(node, 2), math.max(2, node)),
        math.clamp(node, lo=1, hi=3),
    ]
    return sums, more, bits * scalar, truths, part, ~whole, row, *functions


outputs = compute().run()
assert outputs[4].as_array().tolist() == [[[2.0]]] * 2
assert all(batch.is_dense_tensor() for batch in outputs)
