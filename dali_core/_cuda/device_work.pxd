# The requests of a stage to a device.
from dali_core._runtime.engine cimport DeviceMemory, DeviceWork, KernelLaunch, MemoryCopy
