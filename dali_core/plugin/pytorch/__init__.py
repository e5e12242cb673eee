"""Iterators for PyTorch, from the adapter package `dali_core_pytorch`."""

try:
    from dali_core_pytorch import DALIClassificationIterator as DALIClassificationIterator
    from dali_core_pytorch import DALIGenericIterator as DALIGenericIterator
    from dali_core_pytorch import DALIRaggedIterator as DALIRaggedIterator
    from dali_core_pytorch import LastBatchPolicy as LastBatchPolicy
    from dali_core_pytorch import feed_ndarray as feed_ndarray
    from dali_core_pytorch import to_torch_type as to_torch_type

    from dali_core.plugin.pytorch.fn import TorchPythonFunction as TorchPythonFunction
except ModuleNotFoundError as error:
    from dali_core._extras import install_command

    raise ImportError(
        f"dali_core.plugin.pytorch: PyTorch must be installed (got: {error}). "
        f"Run {install_command('pytorch')}."
    ) from error
