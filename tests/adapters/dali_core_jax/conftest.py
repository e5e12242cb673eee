"""Eight devices for JAX, all of them this machine's processor."""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("jax") is not None:
    import jax

    # Only possible before any module of tests asks JAX for its devices.
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
