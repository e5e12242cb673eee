"""`fn.dl_tensor_python_function`: the user's own function of DLPack capsules as an operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core import Pipeline, fn
from dali_core.tensors import TensorCPU
from tests.operators.suite import Example, images


def halved(capsule: Any) -> TensorCPU:
    return TensorCPU(np.asarray(TensorCPU(capsule))[::2])


def all_halved(capsules: list[Any]) -> list[Any]:
    return [halved(capsule) for capsule in capsules]


EXAMPLES = [
    Example("batches", [images()], {"function": all_halved}),
    Example("samples", [images()], {"function": halved, "batch_processing": False}),
]


def increased(capsule: Any) -> Any:
    tensor = TensorCPU(capsule)
    np.asarray(tensor)[:] += 1
    return tensor.__dlpack__()


def test_writes_of_a_function_are_not_shared() -> None:
    with Pipeline(2, 1, None) as pipeline:
        source = fn.external_source(lambda i: np.zeros((2, 3), np.float32))
        results = [
            fn.dl_tensor_python_function(value, function=increased, batch_processing=False)
            for value in (source, source, fn.constant(fdata=[0.0]))
        ]
        pipeline.set_outputs(source, *results)
    for _ in range(3):
        before, *after = pipeline.run()
        assert before.as_array().max() == 0
        assert [set(np.ravel(batch.as_array())) for batch in after] == [{1.0}] * 3
