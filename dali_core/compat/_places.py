"""Where the modules of NVIDIA DALI are here, and which of them come later."""

from __future__ import annotations

ELSEWHERE = {
    "backend_impl": "dali_core.compat.backend_impl",
    "data_node": "dali_core.compat.data_node",
    "external_source": "dali_core.compat.external_source",
    "pickling": "dali_core.compat.pickling",
    "plugin_manager": "dali_core.plugin_manager",
    "reducers": "dali_core.compat.reducers",
    "sysconfig": "dali_core.sysconfig",
}
"""What is no module of this library by its own name."""

BELOW = frozenset(ELSEWHERE)
"""What `import nvidia.dali` alone makes an attribute."""

COMING = {
    "experimental": "Operators without a pipeline, and transforms of torchvision, come with a "
    "later version: make a pipeline",
}
"""What is not here yet, and what to do instead; for all modules below, too."""
