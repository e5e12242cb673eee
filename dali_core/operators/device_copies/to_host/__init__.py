"""Copy tensors from a device to the host: ``DataNode.cpu()``."""

from __future__ import annotations

from dali_core._spec import OpSpec

SPEC = OpSpec(
    name="device_copies.to_host",
    keeps_type=True,
    doc="""Copy tensors from the device to the host, where what follows waits for them.""",
    devices=("gpu",),
    role="to host",
    title="DataNode.cpu",
)
