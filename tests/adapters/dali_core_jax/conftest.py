"""Eight devices for JAX, all on this machine's processor."""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("jax") is not None:
    import jax

    # Must be set before any test module initializes the devices of JAX.
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
