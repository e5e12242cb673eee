"""Random programs of loops, breaks and states over the iterators of PyTorch and JAX."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from dali_core import Pipeline
from tests.plugin.epoch_model import PROGRAMS, Case, cases
from tests.plugin.random_programs import NAMES, SETTINGS, Values, check_program, write_files

# Epochs that are not the data set are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

FEWER = settings(SETTINGS, max_examples=40)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_files(tmp_path_factory.mktemp("files"))


def pairs(labels: Any, uniforms: Any) -> list[tuple[int, float]]:
    return list(zip(labels.ravel().tolist(), uniforms.ravel().tolist(), strict=True))


@FEWER
@given(case=cases(), program=PROGRAMS)
def test_pytorch(files: list[str], case: Case, program: list[tuple[str, int]]) -> None:
    pytest.importorskip("torch", reason="not available: PyTorch")
    from dali_core.plugin.pytorch import DALIGenericIterator

    def make(pipelines: list[Pipeline], counting: dict[str, Any]) -> DALIGenericIterator:
        return DALIGenericIterator(pipelines, NAMES, **counting)

    def values(iterator: Any, batch: Any) -> Values:
        return [pairs(part["label"].numpy(), part["uniform"].numpy()) for part in batch]

    check_program(make, values, files, case, program)


@FEWER
@given(case=cases(), program=PROGRAMS)
def test_jax(files: list[str], case: Case, program: list[tuple[str, int]]) -> None:
    pytest.importorskip("jax", reason="not available: JAX")
    import numpy

    from dali_core.plugin.jax import DALIGenericIterator, LastBatchPolicy

    is_partial = case.policy is LastBatchPolicy.PARTIAL

    def make(pipelines: list[Pipeline], counting: dict[str, Any]) -> DALIGenericIterator:
        return DALIGenericIterator(pipelines, NAMES, mask_name="mask", **counting)

    def values(iterator: Any, batch: Any) -> Values:
        shape = (len(case.shards), case.batch_size)
        label, uniform, mask = (
            numpy.asarray(batch[name]).reshape(shape) for name in (*NAMES, "mask")
        )
        keep = mask if is_partial else numpy.ones(shape, bool)
        return [
            pairs(labels[kept], uniforms[kept])
            for labels, uniforms, kept in zip(label, uniform, keep, strict=True)
        ]

    check_program(make, values, files, case, program)
