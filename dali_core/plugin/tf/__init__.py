"""Datasets of TensorFlow, from the adapter package `dali_core_tensorflow`."""

try:
    from dali_core_tensorflow import DALIDataset as DALIDataset

    from dali_core.plugin.tf import experimental as experimental
except ModuleNotFoundError as error:
    from dali_core._extras import install_command

    raise ImportError(
        f"dali_core.plugin.tf: TensorFlow must be installed (got: {error}). "
        f"Run {install_command('tensorflow')}."
    ) from error


def dataset_compatible_tensorflow() -> bool:
    """Return whether `DALIDataset` works with this version of TensorFlow: it does with all."""
    return True


def dataset_inputs_compatible_tensorflow() -> bool:
    """Return whether `DALIDatasetWithInputs` works with this version of TensorFlow: it does."""
    return True


def dataset_distributed_compatible_tensorflow() -> bool:
    """Return whether `DALIDataset` works with `tf.distribute` of this version: it does."""
    return True
