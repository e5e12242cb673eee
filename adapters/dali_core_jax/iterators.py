"""Iterators over pipelines whose batches are JAX arrays, with the API of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy

from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from dali_core.plugin.iterator_arguments import check_pipelines, check_policy
from dali_core_jax.adapter import HostAdapter
from dali_core_jax.narrowing import Narrowing
from dali_core_jax.placement import make_placement

if TYPE_CHECKING:
    from jax.sharding import Sharding
    from numpy.typing import NDArray

    from dali_core import Pipeline


class DALIGenericIterator(BaseIterator):
    """Iterate over pipelines with any outputs: ``{name: jax.Array}``.

    Parameters
    ----------
    pipelines : Pipeline or list of Pipeline
        Pipelines to run, one batch of each per step.
    output_map : list of str
        Distinct names of the outputs.
    size, reader_name, auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch : \
optional
        See `dali_core.plugin.base_iterator.BaseIterator`.  ``LastBatchPolicy.PARTIAL`` is only
        possible together with `mask_name`, since JAX recompiles for every shape.
    sharding : jax.sharding.Sharding, optional
        Returns global arrays, whose first dimension is partitioned over devices of one or more
        processes.  There must be a pipeline for each part of that dimension that devices of this
        process hold, in the order of the parts.
    pmap_compatible : bool, optional
        Add a leading axis of extent 1 to the batch of a single pipeline, as `jax.pmap` expects;
        with False, do not add one because of `devices`.  No effect with `sharding`.
    devices : sequence of jax.Device, optional
        Returns arrays with a leading axis, along which each pipeline's batch is on its own device.
    mask_name : str, optional
        Adds an entry to the dictionary: a boolean for each sample that states whether it belongs to
        the epoch.  With ``LastBatchPolicy.PARTIAL``, the last batch then keeps its shape: other
        samples, marked False, follow those of the epoch.

    Notes
    -----
    Without `sharding` and `devices`, arrays are on JAX's default device, and the batches of
    several pipelines are stacked along a leading axis.

    On a CPU an array shares the pipeline's memory, which is kept alive by the array and is not
    reused before.  Types of 64 bits become those of 32 bits unless ``jax_enable_x64`` is on: an
    integer that does not fit, or a number that becomes infinite, is an `AdapterError`; digits that
    float64 loses are a warning, once for each output.

    Examples
    --------
    Samples 1 to 7 in batches of 2: the last batch, and the first of the next epoch. With PARTIAL
    and DROP a reader that is followed is made to pad, so that the lower rows hold:

    ==================== ======================= ======= ============== ===========
    `last_batch_padded`  policy                  ends    mask           next
    ==================== ======================= ======= ============== ===========
    False                FILL                    [7, 1]  [True, False]  [2, 3]
    False                PARTIAL, with a mask    [7, 1]  [True, False]  [2, 3]
    False                DROP                    [5, 6]  [True, True]   [2, 3]
    True                 FILL                    [7, 7]  [True, False]  [1, 2]
    True                 PARTIAL, with a mask    [7, 7]  [True, False]  [1, 2]
    True                 DROP                    [5, 6]  [True, True]   [1, 2]
    ==================== ======================= ======= ============== ===========
    """

    def __init__(
        self,
        pipelines: list[Pipeline] | Pipeline,
        output_map: list[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        sharding: Sharding | None = None,
        pmap_compatible: bool | None = None,
        *,
        devices: Sequence[jax.Device] | None = None,
        mask_name: str | None = None,
    ) -> None:
        _check_mask_name(mask_name, output_map)
        last_batch_policy = check_policy(last_batch_policy, None)
        if last_batch_policy is LastBatchPolicy.PARTIAL and mask_name is None:
            raise ArgumentValueError(
                "last_batch_policy: must be FILL or DROP for JAX, which compiles anew for every "
                "shape (got PARTIAL). Set mask_name to keep the shape of the last batch and get a "
                "mask of the samples that belong to the epoch."
            )
        self._mask_name = mask_name
        self._narrowing = Narrowing()
        self._placement = make_placement(
            len(check_pipelines(pipelines)), sharding, devices, pmap_compatible
        )
        # Of the last returned batch: samples that belong to the epoch, if known, and all samples.
        self._valid: Sequence[int] | None = None
        self._num_samples = 0
        super().__init__(
            pipelines,
            output_map,
            HostAdapter(),
            size=size,
            reader_name=reader_name,
            auto_reset=auto_reset,
            last_batch_padded=last_batch_padded,
            last_batch_policy=last_batch_policy,
            prepare_first_batch=prepare_first_batch,
        )

    @property
    def _marks_others(self) -> bool:
        """Whether there is a mask."""
        return self._mask_name is not None

    def _take(self, num_valid: Sequence[int]) -> Any:
        if self._epochs is not None:
            self._valid = self._epochs.num_in_epoch(self._epoch, self._taken)
        # Also if the policy drops some: the mask marks them.
        parts = super()._take([self.batch_size] * len(self._pipelines))
        self._num_samples = len(parts[0][self.output_map[0]])
        if self._mask_name is not None:
            for part, mask in zip(parts, self._masks(), strict=True):
                part[self._mask_name] = mask
        for name in self.output_map:
            for part in parts:
                if isinstance(part[name], numpy.ndarray):
                    self._narrowing.check(part[name], f"output {name!r}")
        return {name: self._placement.place([part[name] for part in parts]) for name in parts[0]}

    def _masks(self) -> list[NDArray[numpy.bool_]]:
        """Return for each pipeline which samples of the last returned batch belong to the epoch."""
        counts = self._valid or [self._num_samples] * len(self._pipelines)
        return [numpy.arange(self._num_samples) < count for count in counts]


def _check_mask_name(mask_name: str | None, output_map: Sequence[str]) -> None:
    if mask_name is None:
        return
    if not isinstance(mask_name, str):
        raise ArgumentTypeError(
            f'mask_name: must be a name or None (got {mask_name!r}). Name the mask, such as "mask".'
        )
    if mask_name in output_map:
        raise ArgumentValueError(
            f"mask_name: must differ from the names of the outputs (got {mask_name!r} beside "
            f"{list(output_map)}). Choose another."
        )
