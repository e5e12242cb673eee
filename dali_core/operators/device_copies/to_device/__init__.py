"""Copy tensors to the pipeline's device: ``DataNode.gpu()``."""

from __future__ import annotations

from dali_core._spec import OpSpec

SPEC = OpSpec(
    name="device_copies.to_device",
    keeps_type=True,
    doc="""Copy tensors from the host to the device, while both continue with other work.""",
    devices=("gpu",),
    input_device="mixed",
    role="to device",
    title="DataNode.gpu",
)
