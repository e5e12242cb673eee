"""Iterators for PaddlePaddle, from the adapter package `dali_core_paddle`."""

try:
    from dali_core_paddle import DALIClassificationIterator as DALIClassificationIterator
    from dali_core_paddle import DALIGenericIterator as DALIGenericIterator
    from dali_core_paddle import LastBatchPolicy as LastBatchPolicy
    from dali_core_paddle import feed_ndarray as feed_ndarray
except ModuleNotFoundError as error:
    from dali_core._extras import install_command

    raise ImportError(
        f"dali_core.plugin.paddle: PaddlePaddle must be installed (got: {error}). "
        f"Run {install_command('paddle')}."
    ) from error
