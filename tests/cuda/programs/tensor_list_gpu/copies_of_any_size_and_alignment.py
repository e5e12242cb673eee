"""Copies of any size and alignment."""

import numpy

from dali_core.tensors import TensorGPU, TensorListGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, Interface
from tests.cuda.programs.tensor_list_gpu.batches import same_list

random = numpy.random.default_rng(5)
block = random.integers(0, 256, 40000, "uint8")
source = DeviceArray(block)
begins = random.integers(0, 20000, 200)
sizes = numpy.concatenate([numpy.arange(100), random.integers(0, 20000, 100)])
pieces = [block[begin : begin + size] for begin, size in zip(begins, sizes)]


class Piece:
    def __init__(self, begin, array):
        self.array, self.stream = array, source.stream
        self.pointer = source.pointer + int(begin)


batch = TensorListGPU([TensorGPU(Interface(Piece(*piece)), "") for piece in zip(begins, pieces)])
same_list(batch, pieces)
