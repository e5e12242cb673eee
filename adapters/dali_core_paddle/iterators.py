"""Iterators whose batches are PaddlePaddle tensors, with the API of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dali_core.errors import ArgumentValueError
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from dali_core_paddle.adapter import adapter

if TYPE_CHECKING:
    from dali_core import Pipeline


class DALIGenericIterator(BaseIterator):
    """Iterate over pipelines with any outputs: ``[{name: tensor}]``, a dictionary per pipeline.

    Parameters
    ----------
    pipelines : Pipeline or list of Pipeline
        Pipelines to run, one batch of each per step.
    output_map : list of str
        Distinct names of the outputs. An item may be a pair of a name and 0, as in NVIDIA DALI.
    dynamic_shape : bool, optional
        Has no effect: the shape may change from batch to batch.
    size, reader_name, auto_reset, fill_last_batch, last_batch_padded, last_batch_policy, \
prepare_first_batch : optional
        See `dali_core.plugin.base_iterator.BaseIterator`.
    output_types : sequence of str, optional
        For each output, ``"dense"``: one tensor, for uniform shapes only (the default); or
        ``"list"``: a list with a tensor for each sample.

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
        output_map: Sequence[str | tuple[str, int]],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        output_types: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            pipelines,
            output_map if isinstance(output_map, str) else [_name(item) for item in output_map],
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


def _name(item: Any) -> Any:
    """Return the name of an output, which the reference may have with a level of detail."""
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        return item  # checked where all names are
    name, level = item
    if level != 0:
        raise ArgumentValueError(
            f"output_map: the level of detail (LoD) of {name!r} must be 0 (got {level!r}): "
            'PaddlePaddle no longer has such tensors. Pass output_types=["list"] for samples of '
            "different shapes."
        )
    return name
