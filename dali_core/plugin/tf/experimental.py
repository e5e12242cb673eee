"""Datasets of TensorFlow with inputs."""

from dali_core_tensorflow import DALIDatasetWithInputs as DALIDatasetWithInputs
from dali_core_tensorflow import Input as Input
