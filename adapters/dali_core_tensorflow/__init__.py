"""TensorFlow adapter: pipelines as `tf.data.Dataset`, and batches without copying."""

from dali_core.plugin.base_iterator import LastBatchPolicy as LastBatchPolicy
from dali_core_tensorflow.adapter import TensorFlowAdapter as TensorFlowAdapter
from dali_core_tensorflow.adapter import adapter as adapter
from dali_core_tensorflow.dataset import DALIDataset as DALIDataset
from dali_core_tensorflow.dataset import DALIDatasetWithInputs as DALIDatasetWithInputs
from dali_core_tensorflow.inputs import Input as Input
