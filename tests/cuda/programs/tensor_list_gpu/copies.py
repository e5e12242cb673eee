"""Copies."""

import copy
import pickle

from dali_core.tensors import TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import slow
from tests.cuda.programs.tensor_list_gpu.batches import images, same_list

sources = [slow(image) for image in images]
batch = TensorListGPU(sources, "HWC", False)
for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
    assert other.layout() == "HWC"
    assert other.device_id() == 0
    assert other[0].data_ptr() not in {source.pointer for source in sources}
    same_list(other, images)
assert copy.copy(batch)[0].data_ptr() == sources[0].pointer
