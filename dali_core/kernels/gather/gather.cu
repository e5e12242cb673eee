// Gathers units of an output by strides: what fn.transpose, subscripts and fills fall back to,
// four units a thread at a time.
#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/gather/gather.hpp"

namespace dali_core {

struct alignas(16) GatheredBytes {
  uint64_t halves[2];
};

// Offset in the input.
__device__ __noinline__ int64_t source_of(const GatherTask& task, int64_t number) {
  int64_t offset = 0;
#pragma unroll 1
  for (int dim = task.num_dims - 1; dim >= 0; --dim) {
    const int64_t rest = dim > 0 ? quotient(number, task.extents[dim]) : 0;
    const int64_t place = number - rest * task.extents[dim].divisor;
    offset += place * task.strides[dim];
    number = rest;
  }
  return offset;
}

template <typename T>
__device__ void gather_units(const GatherTask& task) {
  T* const out = static_cast<T*>(task.out);
  const char* const in = static_cast<const char*>(task.in);
  const int64_t lead = group_lead(task.out, sizeof(T));
  const bool is_aligned = is_group_aligned<T>(task.out, lead);
  const int64_t groups = num_groups(task.count, lead);
  const int64_t num_threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t group = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; group < groups;
       group += num_threads) {
    const int64_t first = group * kGroup - lead;
    ElementGroup<T> units{};
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      if (first + i < 0 || first + i >= task.count) continue;
      units.elements[i] = *reinterpret_cast<const T*>(in + source_of(task, first + i));
    }
    store_group(out, first, task.count, is_aligned, units);
  }
}

}  // namespace dali_core

extern "C" __global__ void gather_elements(const dali_core::GatherTask* tasks, int count) {
  const int number = static_cast<int>(blockIdx.y + gridDim.y * blockIdx.z);
  if (number >= count) return;
  const dali_core::GatherTask& task = tasks[number];
  switch (task.unit_bytes) {
    case 1:
      return dali_core::gather_units<uint8_t>(task);
    case 2:
      return dali_core::gather_units<uint16_t>(task);
    case 4:
      return dali_core::gather_units<uint32_t>(task);
    case 8:
      return dali_core::gather_units<uint64_t>(task);
    default:
      return dali_core::gather_units<dali_core::GatheredBytes>(task);
  }
}
