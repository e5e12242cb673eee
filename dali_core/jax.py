"""JAX: a loader that gives its arrays, from the adapter package `dali_core_jax`."""

try:
    from dali_core_jax.loader import Loader as Loader
except ModuleNotFoundError as error:
    raise ImportError(
        f'dali_core.jax: JAX must be installed (got: {error}). Run pip install "dali_core[jax]".'
    ) from error
