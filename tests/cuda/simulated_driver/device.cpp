// Initialisation, and queries of devices.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "context.hpp"
#include "memory.hpp"

namespace simulated {
namespace {

std::set<const void*>& destroyed() {
  static auto& all = *new std::set<const void*>;
  return all;
}

bool is_initialized = false;

std::size_t bytes_of(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

int attribute_of(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return settings().major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return settings().minor;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 101376;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 102400;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    // Small, so that grids that depend on it are small.
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 4;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 2;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 1000000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 256;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 4 << 20;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      return 512;
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:
      return settings().uses_host_page_tables;
    default:
      return 0;
  }
}

}  // namespace

bool initialized() { return is_initialized; }

const Settings& settings() {
  static const Settings of_process = [] {
    Settings found;
    if (const char* text = std::getenv("DALI_CORE_SIMULATED_DEVICES")) {
      found.devices = std::atoi(text);
    }
    if (const char* text = std::getenv("DALI_CORE_SIMULATED_COMPUTE_CAPABILITY")) {
      std::sscanf(text, "%d.%d", &found.major, &found.minor);
    }
    found.runs_kernels = bytes_of("DALI_CORE_SIMULATED_KERNELS", 1) != 0;
    found.uses_host_page_tables = bytes_of("DALI_CORE_SIMULATED_HOST_PAGE_TABLES", 0) != 0;
    return found;
  }();
  return of_process;
}

std::vector<Device>& devices() {
  static auto& all = *new std::vector<Device>([] {
    std::vector<Device> made(settings().devices);
    for (std::size_t ordinal = 0; ordinal < made.size(); ++ordinal) {
      made[ordinal].ordinal = static_cast<int>(ordinal);
      made[ordinal].memory = bytes_of("DALI_CORE_SIMULATED_MEMORY", std::size_t{8} << 30);
      made[ordinal].default_pool = made[ordinal].current_pool = make_pool(made[ordinal].ordinal);
    }
    return made;
  }());
  return all;
}

Device& device_at(CUdevice ordinal) {
  require(ordinal >= 0 && ordinal < settings().devices, CUDA_ERROR_INVALID_DEVICE);
  return devices()[ordinal];
}

std::uintptr_t new_handle() {
  static std::uintptr_t last = 0x1000;
  return last += 0x10;
}

void note_destroyed(const void* handle) { destroyed().insert(handle); }

void refuse_destroyed(const void* handle) {
  if (destroyed().count(handle) == 0) return;
  std::fprintf(stderr, "simulated driver: use of the destroyed stream or event %p\n", handle);
  std::abort();
}

}  // namespace simulated

using namespace simulated;

DRIVER(cuInit, unsigned flags) {
  require(flags == 0, CUDA_ERROR_INVALID_VALUE);
  require(settings().devices > 0, CUDA_ERROR_NO_DEVICE);
  is_initialized = true;
}

DRIVER(cuDriverGetVersion, int* version) {
  require(version, CUDA_ERROR_INVALID_VALUE);
  *version = CUDA_VERSION;
}

DRIVER(cuDeviceGet, CUdevice* device, int ordinal) {
  require(device, CUDA_ERROR_INVALID_VALUE);
  *device = device_at(ordinal).ordinal;
}

DRIVER(cuDeviceGetCount, int* count) {
  require(count, CUDA_ERROR_INVALID_VALUE);
  *count = settings().devices;
}

DRIVER(cuDeviceGetName, char* name, int size, CUdevice device) {
  device_at(device);
  require(name && size > 0, CUDA_ERROR_INVALID_VALUE);
  std::snprintf(name, size, "Simulated device");
}

DRIVER(cuDeviceGetUuid, CUuuid* uuid, CUdevice device) {
  require(uuid, CUDA_ERROR_INVALID_VALUE);
  std::memset(uuid, 0x5d, sizeof *uuid);
  uuid->bytes[15] = static_cast<char>(device_at(device).ordinal);
}

DRIVER_SINCE(11040, cuDeviceGetUuid_v2, CUuuid* uuid, CUdevice device) {
  body_of_cuDeviceGetUuid(uuid, device);
}

DRIVER(cuDeviceTotalMem, size_t* bytes, CUdevice device) {
  require(bytes, CUDA_ERROR_INVALID_VALUE);
  *bytes = device_at(device).memory;
}

DRIVER(cuDeviceGetAttribute, int* value, CUdevice_attribute attribute, CUdevice device) {
  device_at(device);
  require(value && attribute > 0 && attribute < CU_DEVICE_ATTRIBUTE_MAX, CUDA_ERROR_INVALID_VALUE);
  *value = attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? device + 1 : attribute_of(attribute);
}

DRIVER(cuDeviceGetPCIBusId, char* text, int size, CUdevice device) {
  require(text && size >= 13, CUDA_ERROR_INVALID_VALUE);
  std::snprintf(text, size, "0000:%02x:00.0", device_at(device).ordinal + 1);
}
