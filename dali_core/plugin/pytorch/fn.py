"""Functions of PyTorch as operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dali_core_pytorch.function import on_tensors as _on_tensors

from dali_core import fn as _fn
from dali_core import ops as _ops


def torch_python_function(
    *inputs: Any, function: Callable[..., Any], batch_processing: bool = False, **arguments: Any
) -> Any:
    """Call a function on each sample, or on each batch, as PyTorch tensors on the host.

    Parameters
    ----------
    *inputs : DataNode
        What the function gets.
    function : callable
        Takes one tensor for each input, of its own: it may write to them. It returns tensors.
    batch_processing : bool
        Whether to call it once for a batch, with a list of tensors for each input.
    **arguments
        As for `fn.python_function`, such as `num_outputs` and `output_layouts`.

    Returns
    -------
    DataNode or list of DataNode
        The results.
    """
    return _fn.python_function(
        *inputs, function=_on_tensors(function), batch_processing=batch_processing, **arguments
    )


class TorchPythonFunction(_ops.PythonFunction):
    """Call a function on each sample, or on each batch, as PyTorch tensors on the host.

    Parameters
    ----------
    function : callable
        Takes one tensor for each input, of its own: it may write to them. It returns tensors.
    num_outputs : int
        How many results it returns.
    device : str
        Only ``"cpu"``.
    batch_processing : bool
        Whether to call it once for a batch, with a list of tensors for each input.
    **arguments
        As for `ops.PythonFunction`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        num_outputs: int = 1,
        device: str = "cpu",
        batch_processing: bool = False,
        **arguments: Any,
    ) -> None:
        super().__init__(
            function=_on_tensors(function),
            num_outputs=num_outputs,
            device=device,
            batch_processing=batch_processing,
            **arguments,
        )
