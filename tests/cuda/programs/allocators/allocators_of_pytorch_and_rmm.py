"""Allocators of pytorch and rmm."""

import sys
import types

from cuda.bindings import driver as bindings

from dali_core import cuda
from dali_core._cuda import memory

calls = []


def allocate(size, device=None, stream=None):
    calls.append(("allocate", size, device, stream))
    _status, pointer = bindings.cuMemAlloc(size)
    return int(pointer)


def delete(pointer):
    calls.append(("delete",))
    bindings.cuMemFree(pointer)


torch = types.ModuleType("torch")
torch.cuda = types.SimpleNamespace(
    caching_allocator_alloc=allocate, caching_allocator_delete=delete
)


class Stream:
    def __init__(self, obj):
        _version, self.handle = obj.__cuda_stream__()


class Resource:
    def allocate(self, nbytes, stream):
        assert isinstance(stream, Stream)
        return allocate(nbytes, "rmm", stream.handle)

    def deallocate(self, pointer, nbytes, stream):
        assert isinstance(stream, Stream)
        delete(pointer)


mr = types.ModuleType("rmm.mr")
mr.get_current_device_resource = Resource
stream_module = types.ModuleType("rmm.pylibrmm.stream")
stream_module.Stream = Stream
sys.modules |= {
    "torch": torch,
    "rmm": types.ModuleType("rmm"),
    "rmm.mr": mr,
    "rmm.pylibrmm": types.ModuleType("rmm.pylibrmm"),
    "rmm.pylibrmm.stream": stream_module,
}

stream = cuda.Stream(1)
for allocator, place in (
    (cuda.pytorch_allocator(), 1),
    (cuda.rmm_allocator(), "rmm"),
    (cuda.rmm_allocator(Resource()), "rmm"),
):
    cuda.set_allocator(allocator)
    block = memory.Buffer(stream, 1000)
    assert calls == [("allocate", 1000, place, stream.handle)]
    del block
    assert calls.pop() == ("delete",)
    calls.clear()
