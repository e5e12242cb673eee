"""Placement of operators on devices, and checks that their inputs are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dali_core._call.values import Value
from dali_core._spec import OpSpec
from dali_core.errors import ArgumentValueError, GraphError

_PLACES = {"cpu": "host", "gpu": "GPU"}


def choose_device(spec: OpSpec, wanted: str | None, inputs: Sequence[Value], where: str) -> str:
    """Return where an operator runs: where the call says, or else where its inputs are."""
    devices = spec.devices
    if wanted is None:
        if spec.joins or spec.input_device == "any":
            return "cpu"
        on_device = any(value.device == "gpu" for value in inputs)
        return "gpu" if "gpu" in devices and (on_device or "cpu" not in devices) else "cpu"
    if wanted not in devices:
        known = [*devices, *([spec.moving.device] if spec.moving else [])]
        raise ArgumentValueError(
            f"{where}: device must be one of {', '.join(map(repr, known))} "
            f"(got {wanted!r}). Leave it out, and move data by .cpu() and .gpu()."
        )
    return wanted


def output_device(spec: OpSpec, device: str, inputs: Sequence[Value]) -> str:
    """Return where the results of an operator are that runs on a device."""
    if spec.joins:
        return inputs[-1].device
    return "cpu" if spec.role == "to host" else device


def check_places(
    spec: OpSpec,
    device: str,
    inputs: Sequence[Value],
    tensors: Mapping[str, Value],
    where: str,
) -> None:
    """Check that what an operator reads is where it can read it."""
    for name, value in tensors.items():
        if value.device == "gpu":
            raise GraphError(
                f"{where}: argument {name!r} must be on the host, where shapes and parameters are "
                f"found (got {value.name!r} on the GPU). Pass {value.name}.cpu()."
            )
    if spec.joins:
        if inputs[1].device != inputs[2].device:
            raise GraphError(
                f"{where}: both branches must give a value in the same place (got "
                f"{inputs[1].name!r} on the {_PLACES[inputs[1].device]} and {inputs[2].name!r} on "
                f"the {_PLACES[inputs[2].device]}). Use .gpu() or .cpu() in one of them."
            )
        return
    if spec.input_device == "any" or (device == "gpu" and spec.input_device == "mixed"):
        return
    for number, value in enumerate(inputs):
        if value.device != device:
            raise GraphError(
                f"{where}: input {number} must be on the {_PLACES[device]}, where the operator "
                f"runs (got {value.name!r} on the {_PLACES[value.device]}). Pass it by .{device}()."
            )
