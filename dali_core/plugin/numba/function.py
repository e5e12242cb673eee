"""`numba_function`: checks a call, compiles its functions and adds it to a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core._call.location import user_location
from dali_core._graph.graph import add_operator
from dali_core._graph.namespaces import OperatorClass
from dali_core._graph.node import DataNode
from dali_core.errors import ArgumentConflictError, ArgumentTypeError, ArgumentValueError, located
from dali_core.operators.numba_function import SPEC, WHOLE_BATCH, WITH_SETUP
from dali_core.operators.numba_function.compiling import Signature
from dali_core.types import DALIDataType

_NAME = "plugin.numba.fn.experimental.numba_function"


def numba_function(
    *inputs: Any,
    run_fn: Callable[..., None],
    out_types: Sequence[DALIDataType],
    in_types: Sequence[DALIDataType],
    outs_ndim: Sequence[int],
    ins_ndim: Sequence[int],
    setup_fn: Callable[..., None] | None = None,
    device: str = "cpu",
    batch_processing: bool = False,
    blocks: Sequence[int] | None = None,
    threads_per_block: Sequence[int] | None = None,
    **arguments: Any,
) -> DataNode | list[DataNode] | None:
    """Call a function that Numba compiles, on each sample or on each batch.

    Native threads call it for several samples at a time, without the GIL; a function of whole
    batches is called for one batch after the other. Outputs have no layout.

    Parameters
    ----------
    *inputs : DataNode
        One or more.
    run_fn : callable
        Gets an array for each output, which it fills, then one for each input, which it only reads:
        others may read the same memory. It is compiled in Numba's nopython mode when it is passed
        here. If it raises an exception, the sample is a bad one (see `Pipeline`); the text of the
        exception is lost.
    out_types, in_types : list of DALIDataType
        Types of the outputs and inputs.
    outs_ndim, ins_ndim : list of int
        Their numbers of dimensions.
    setup_fn : callable, optional
        Computes shapes of outputs: gets, for each output, an array with a row for each sample of
        the batch, into which it writes the extents (0 before), and the same for inputs. It is
        called for each sample, always with the shapes of the whole batch. Without it, each output
        has the shape of the input at its place.
    device : str
        Only ``"cpu"``.
    batch_processing : bool
        Whether `run_fn` gets lists, with an array for each sample of the batch.
    blocks, threads_per_block : list of int, optional
        Of CUDA kernels, which cannot be used.
    **arguments
        `name` and `preserve`.

    Returns
    -------
    DataNode or list of DataNode
        The outputs.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If arguments do not fit, or Numba does not compile a function: with what Numba says.
    ImportError
        If Numba is not installed.
    """
    where = f"{_NAME} at {user_location()}"
    if device != "cpu" or blocks is not None or threads_per_block is not None:
        raise ArgumentValueError(
            f"{where}: device must be 'cpu', without blocks and threads_per_block (got {device!r}, "
            f"{blocks} and {threads_per_block}). Call .cpu() on the inputs."
        )
    types = {"out_types": _listed(out_types), "in_types": _listed(in_types)}
    ndims = {"outs_ndim": _listed(outs_ndim), "ins_ndim": _listed(ins_ndim)}
    _check(where, types, ndims, len(inputs), has_setup=setup_fn is not None)
    signature = Signature(types["out_types"], types["in_types"], *ndims.values())
    compiled: dict[str, Any] = {}
    with located(where):
        compile_run = signature.compile_run_batch if batch_processing else signature.compile_run
        compiled["run_fn"] = compile_run(run_fn)
        if setup_fn is not None:
            compiled["setup_fn"] = signature.compile_setup(setup_fn)
    spec = WHOLE_BATCH if batch_processing else SPEC if setup_fn is None else WITH_SETUP
    return add_operator(spec, inputs, {**arguments, **types, **ndims, **compiled})


class NumbaFunction(OperatorClass):
    """Call a function that Numba compiles, on each sample or on each batch.

    Parameters
    ----------
    run_fn, out_types, in_types, outs_ndim, ins_ndim, setup_fn, device, batch_processing, blocks, \
threads_per_block, **arguments
        As for `numba_function`.
    """

    def __init__(
        self,
        run_fn: Callable[..., None],
        out_types: Sequence[DALIDataType],
        in_types: Sequence[DALIDataType],
        outs_ndim: Sequence[int],
        ins_ndim: Sequence[int],
        setup_fn: Callable[..., None] | None = None,
        device: str = "cpu",
        batch_processing: bool = False,
        blocks: Sequence[int] | None = None,
        threads_per_block: Sequence[int] | None = None,
        **arguments: Any,
    ) -> None:
        self._arguments = {
            "run_fn": run_fn,
            "out_types": out_types,
            "in_types": in_types,
            "outs_ndim": outs_ndim,
            "ins_ndim": ins_ndim,
            "setup_fn": setup_fn,
            "device": device,
            "batch_processing": batch_processing,
            "blocks": blocks,
            "threads_per_block": threads_per_block,
            **arguments,
        }

    def __call__(self, *inputs: Any, **arguments: Any) -> DataNode | list[DataNode] | None:
        """Call it on inputs, with further arguments."""
        return numba_function(*inputs, **{**self._arguments, **arguments})


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _check(
    where: str,
    types: dict[str, list[Any]],
    ndims: dict[str, list[Any]],
    num_inputs: int,
    *,
    has_setup: bool,
) -> None:
    for name, values in types.items():
        for value in values:
            if not isinstance(value, DALIDataType):
                raise ArgumentTypeError(
                    f"{where}: argument {name!r} must be a list of types, such as types.UINT8 (got "
                    f"{value!r}). Pass such types."
                )
            if not 0 <= value.value <= DALIDataType.BOOL.value or value is DALIDataType.FLOAT16:
                raise ArgumentValueError(
                    f"{where}: argument {name!r} must be types of numbers that Numba computes with "
                    f"(got {value.name}). Cast the data."
                )
    for name, values in ndims.items():
        if not all(type(value) is int for value in values):
            raise ArgumentTypeError(
                f"{where}: argument {name!r} must be a list of integers (got {values!r}). Pass "
                "numbers of dimensions."
            )
    outs, ins = len(types["out_types"]), len(types["in_types"])
    if (outs, ins) != (len(ndims["outs_ndim"]), len(ndims["ins_ndim"])) or ins != num_inputs:
        raise ArgumentConflictError(
            f"{where}: out_types and outs_ndim must have an entry for each output, and in_types "
            f"and ins_ndim for each of the {num_inputs} inputs (got {outs}, "
            f"{len(ndims['outs_ndim'])}, {ins} and {len(ndims['ins_ndim'])}). Pass as many."
        )
    if not has_setup and ndims["outs_ndim"] != ndims["ins_ndim"]:
        raise ArgumentConflictError(
            f"{where}: without setup_fn, outputs must have the numbers of dimensions of the inputs "
            f"(got {ndims['outs_ndim']} and {ndims['ins_ndim']}). Pass a setup_fn."
        )
