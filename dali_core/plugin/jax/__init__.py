"""Iterators for JAX, from the adapter package `dali_core_jax`."""

try:
    from dali_core_jax import DALIGenericIterator as DALIGenericIterator
    from dali_core_jax import LastBatchPolicy as LastBatchPolicy
    from dali_core_jax import data_iterator as data_iterator
except ModuleNotFoundError as error:
    from dali_core._extras import install_command

    raise ImportError(
        f"dali_core.plugin.jax: JAX must be installed (got: {error}). Run {install_command('jax')}."
    ) from error
