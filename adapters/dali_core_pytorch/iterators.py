"""Iterators over pipelines whose batches are PyTorch tensors, with the API of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from dali_core_pytorch.adapter import adapter

if TYPE_CHECKING:
    from dali_core import Pipeline


class DALIGenericIterator(BaseIterator):
    """Iterate over pipelines with any outputs: ``[{name: tensor}]``, a dictionary per pipeline.

    Parameters
    ----------
    pipelines : Pipeline or list of Pipeline
        Pipelines to run, one batch of each per step.
    output_map : list of str
        Distinct names of the outputs.
    dynamic_shape : bool, optional
        Has no effect: the shape may change from batch to batch.
    size, reader_name, auto_reset, fill_last_batch, last_batch_padded, last_batch_policy, \
prepare_first_batch : optional
        See `dali_core.plugin.base_iterator.BaseIterator`.

    Notes
    -----
    A tensor shares the memory of the pipeline's output.  It is kept alive by the tensor and is not
    reused before, so tensors of earlier batches stay valid.

    Examples
    --------
    Samples 1 to 7 in batches of 2: the last batch, and the first of the next epoch. With PARTIAL
    and DROP a reader that is followed is made to pad, so that the lower rows hold:

    ==================== ================= ======= ===========
    `last_batch_padded`  policy            ends    next
    ==================== ================= ======= ===========
    False                FILL              [7, 1]  [2, 3]
    False                PARTIAL           [7]     [2, 3]
    False                DROP              [5, 6]  [2, 3]
    True                 FILL              [7, 7]  [1, 2]
    True                 PARTIAL           [7]     [1, 2]
    True                 DROP              [5, 6]  [1, 2]
    ==================== ================= ======= ===========
    """

    def __init__(
        self,
        pipelines: list[Pipeline] | Pipeline,
        output_map: list[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ) -> None:
        super().__init__(
            pipelines,
            output_map,
            adapter,
            size=size,
            reader_name=reader_name,
            auto_reset=auto_reset,
            fill_last_batch=fill_last_batch,
            last_batch_padded=last_batch_padded,
            last_batch_policy=last_batch_policy,
            prepare_first_batch=prepare_first_batch,
        )


class DALIClassificationIterator(DALIGenericIterator):
    """Iterate over pipelines with two outputs, named "data" and "label".

    Parameters
    ----------
    pipelines : Pipeline or list of Pipeline
        Pipelines to run, one batch of each per step.
    size, reader_name, auto_reset, fill_last_batch, dynamic_shape, last_batch_padded, \
last_batch_policy, prepare_first_batch : optional
        See `DALIGenericIterator`.
    """

    def __init__(
        self,
        pipelines: list[Pipeline] | Pipeline,
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ) -> None:
        super().__init__(
            pipelines,
            ["data", "label"],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )


class DALIRaggedIterator(BaseIterator):
    """Iterate over pipelines whose outputs may have a different shape for each sample.

    Parameters
    ----------
    pipelines : Pipeline or list of Pipeline
        Pipelines to run, one batch of each per step.
    output_map : list of str
        Distinct names of the outputs.
    output_types : sequence of str, optional
        For each output: `DENSE_TAG`, one tensor, for uniform shapes only (the default);
        `SPARSE_LIST_TAG`, a list with a tensor for each sample; `SPARSE_COO_TAG`, one sparse
        tensor, as large as the largest sample in each dimension; `FLAT_TAG`, a tensor of the
        elements of all samples and offsets at which each begins; or `JAGGED_TAG`, these as one
        nested tensor. The last two are for samples that differ in the first dimension only.
    dynamic_shape : bool, optional
        Has no effect: the shape may change from batch to batch.
    size, reader_name, auto_reset, fill_last_batch, last_batch_padded, last_batch_policy, \
prepare_first_batch : optional
        See `dali_core.plugin.base_iterator.BaseIterator`.
    """

    DENSE_TAG = "dense"
    SPARSE_LIST_TAG = "sparse_list"
    SPARSE_COO_TAG = "sparse_coo"
    FLAT_TAG = "flat"
    JAGGED_TAG = "jagged"

    def __init__(
        self,
        pipelines: list[Pipeline] | Pipeline,
        output_map: list[str],
        size: int = -1,
        reader_name: str | None = None,
        output_types: Sequence[str] | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ) -> None:
        super().__init__(
            pipelines,
            output_map,
            adapter,
            size=size,
            reader_name=reader_name,
            auto_reset=auto_reset,
            fill_last_batch=fill_last_batch,
            last_batch_padded=last_batch_padded,
            last_batch_policy=last_batch_policy,
            prepare_first_batch=prepare_first_batch,
            output_types=output_types,
        )
