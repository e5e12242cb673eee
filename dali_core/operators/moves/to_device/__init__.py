"""Copy tensors to the pipeline's device: ``DataNode.gpu()``."""

from __future__ import annotations

from dali_core._spec import OpSpec

SPEC = OpSpec(
    name="moves.to_device",
    doc="""Copy tensors from the host to the device, while both go on with other work.""",
    devices=("gpu",),
    mixes_devices=True,
    internal=True,
    role="to device",
    title=lambda arguments: "DataNode.gpu",
)
