"""Contiguous samples of several owners are one view."""

from dali_core.tensors import TensorGPU, TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import Interface, same, slow
from tests.cuda.programs.tensor_list_gpu.batches import equal

source = slow(equal)
row = equal[0].nbytes


class Row:
    def __init__(self, number):
        self.array, self.stream = equal[number], source.stream
        self.pointer = source.pointer + number * row


rows = [TensorGPU(Interface(Row(number))) for number in range(4)]
batch = TensorListGPU(rows, contiguous=False)
assert batch[1].data_ptr() == source.pointer + row
whole = batch.as_tensor()
assert whole.data_ptr() != source.pointer
same(whole, equal)
