"""Modules of this library for those of NVIDIA DALI, and those that are not available yet."""

from __future__ import annotations

ELSEWHERE = {
    "_autograph": "dali_core.compat.autograph",
    "_conditionals": "dali_core.compat.conditionals",
    "auto_aug.core._args": "dali_core.compat.augmentation_arguments",
    "auto_aug.core._utils": "dali_core.compat.augmentation_suites",
    "backend_impl": "dali_core.compat.backend_impl",
    "data_node": "dali_core.compat.data_node",
    "external_source": "dali_core.compat.external_source",
    "pickling": "dali_core.compat.pickling",
    "plugin_manager": "dali_core.plugin_manager",
    "reducers": "dali_core.compat.reducers",
    "sysconfig": "dali_core.sysconfig",
    "tfrecord": "dali_core.tfrecord",
}
"""Modules that have another name in this library."""

BELOW = frozenset(name for name in ELSEWHERE if "." not in name)
"""Submodules that `import nvidia.dali` alone makes attributes."""

_VERSIONS = {
    "__cuda_version__": "dali_core.compat.versions:cuda_version()",
    "__git_sha__": "dali_core.compat.versions:git_sha()",
}

ADDED = {
    "nvidia.dali": _VERSIONS,
    "dali_core.auto_aug.core": {
        "_args": "dali_core.compat.augmentation_arguments",
        "_utils": "dali_core.compat.augmentation_suites",
    },
    "dali_core.backend": {
        "GetSchema": "dali_core.compat.operator_schemas:GetSchema",
        "__cuda_version__": _VERSIONS["__cuda_version__"],
    },
    "dali_core.fn": {"_conditional": "dali_core.compat.conditional_operators"},
    "dali_core.ops": {"_DataNode": "dali_core._graph.node:DataNode"},
    "dali_core.plugin.jax": {"fn": "dali_core.plugin.jax.fn"},
    "dali_core.plugin.numba": {"fn": "dali_core.plugin.numba.fn"},
    "dali_core.plugin.pytorch": {
        "experimental": "dali_core.plugin.pytorch.experimental",
        "fn": "dali_core.plugin.pytorch.fn",
    },
    "dali_core.plugin.pytorch.experimental": {
        "proxy": "dali_core.plugin.pytorch.experimental.proxy",
    },
}
"""Names that our modules have only for programs for NVIDIA DALI, and what they are:
``module``, ``module:name`` or the result of ``module:name()``."""
