"""Functions of JAX as operators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from dali_core_jax.function import on_arrays as _on_arrays

from dali_core._graph.graph import add_operator as _add_operator
from dali_core._registry.specs import spec_of_role as _spec_of_role
from dali_core.errors import ArgumentTypeError, ArgumentValueError


def jax_function(
    function: Callable[..., Any] | None = None,
    num_outputs: int = 1,
    output_layouts: str | Sequence[str] | None = None,
    sharding: Any = None,
    device: str | None = None,
    preserve: bool = True,
) -> Callable[..., Any]:
    """Make an operator of a function of whole batches, as JAX arrays; also as a decorator.

    Parameters
    ----------
    function : callable
        Gets an array of shape (batch size, ...) on the host for each input, whose samples must all
        have one shape, and returns `num_outputs` such arrays, as a tuple if it is not one. It may
        be what `jax.jit` or `jax.vmap` return. If left out, a decorator is returned.
    num_outputs : int
        How many arrays it returns; for 0 it returns nothing.
    output_layouts : str or sequence of str, optional
        Layout of the samples of all outputs, or one for each. By default, an output has the layout
        of the input with its number, if it has as many dimensions.
    sharding : optional
        Must be left out.
    device : str, optional
        Only ``"cpu"``.
    preserve : bool
        Whether to call it even if nothing uses its results.

    Returns
    -------
    callable
        Takes and returns `DataNode` objects.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the function is none, or data are to be on a device.
    """
    if function is None:
        return functools.partial(
            jax_function,
            num_outputs=num_outputs,
            output_layouts=output_layouts,
            sharding=sharding,
            device=device,
            preserve=preserve,
        )
    if not callable(function):
        raise ArgumentTypeError(
            f"jax_function: function must be callable (got {function!r}). Pass a function."
        )
    if device not in (None, "cpu") or sharding is not None:
        raise ArgumentValueError(
            "jax_function: data must be on the host, with neither sharding nor another device than "
            f"'cpu' (got {sharding!r} and {device!r}). Leave both out."
        )
    call = _on_arrays(function, num_outputs)

    @functools.wraps(function)
    def operator(*inputs: Any) -> Any:
        arguments = {
            "function": call,
            "num_outputs": num_outputs,
            "output_layouts": output_layouts,
            "preserve": preserve,
        }
        return _add_operator(_spec_of_role("array function"), inputs, arguments)

    return operator
