"""PyTorch: a loader that gives its tensors, from the adapter package `dali_core_pytorch`."""

try:
    from dali_core_pytorch.loader import Loader as Loader
except ModuleNotFoundError as error:
    raise ImportError(
        f"dali_core.pytorch: PyTorch must be installed (got: {error}). "
        'Run pip install "dali_core[pytorch]".'
    ) from error
