# What a stage asks for on a device.
from dali_core._runtime.engine cimport DeviceMemory, DeviceWork, KernelLaunch, MemoryCopy
