// Copies elements, or erases them where they lie in a region.
#include "dali_core/device_kernel.hpp"
#include "dali_core/device_words.hpp"
#include "dali_core/kernels/fill/erase.hpp"

namespace dali_core {

__device__ uint64_t load_bits(const void* from, int64_t index, int bytes) {
  switch (bytes) {
    case 1:
      return static_cast<const uint8_t*>(from)[index];
    case 2:
      return static_cast<const uint16_t*>(from)[index];
    case 4:
      return static_cast<const uint32_t*>(from)[index];
    default:
      return static_cast<const uint64_t*>(from)[index];
  }
}

__device__ bool is_inside(const ErasedRange* ranges, const int64_t* place, int num_dims) {
  for (int dim = 0; dim < num_dims; ++dim)
    if (place[dim] < ranges[dim].start || place[dim] >= ranges[dim].stop) return false;
  return true;
}

// Elements from byte `begin` to byte `end`, one by one.
__device__ __noinline__ void erase_elements(const EraseTask& task, int64_t begin, int64_t end) {
#pragma unroll 1
  for (int64_t i = begin / task.bytes; i < end / task.bytes; ++i) {
    int64_t place[kMaxErasedDims] = {};
    int64_t number = i;
    for (int dim = task.num_dims - 1; dim >= 0; --dim) {
      const int64_t rest = quotient(number, task.extents[dim]);
      place[dim] = number - rest * task.extents[dim].divisor;
      number = rest;
    }
    bool is_erased = false;
    for (int region = 0; region < task.num_regions && !is_erased; ++region)
      is_erased = is_inside(task.ranges + region * task.num_dims, place, task.num_dims);
    const int64_t channel = task.channel_axis < 0 ? 0 : place[task.channel_axis];
    store_bits(task.out, i, task.bytes,
               is_erased ? task.values[channel] : load_bits(task.in, i, task.bytes));
  }
}

// Whether the position of a line is in a region.
inline __device__ bool has_line(const EraseTask& task, const ErasedRange* ranges, int64_t line) {
#pragma unroll 1
  for (int dim = task.line_dim - 1; dim >= 0; --dim) {
    const int64_t rest = dim == 0 ? 0 : quotient(line, task.extents[dim]);
    const int64_t position = line - rest * task.extents[dim].divisor;
    if (position < ranges[dim].start || position >= ranges[dim].stop) return false;
    line = rest;
  }
  return true;
}

enum class Covered { kNot, kWholly, kPartly };

// How much of 16 bytes of a line regions cover.
inline __device__ Covered coverage(const EraseTask& task, int64_t line, int64_t within,
                                   int64_t position_bytes) {
  Covered covered = Covered::kNot;
#pragma unroll 1
  for (int region = 0; region < task.num_regions; ++region) {
    const ErasedRange* const ranges = task.ranges + region * task.num_dims;
    const ErasedRange range = ranges[task.line_dim];
    const int64_t begin = range.start * position_bytes;
    const int64_t end = range.stop * position_bytes;
    if (within + 16 <= begin || within >= end || !has_line(task, ranges, line)) continue;
    if (begin <= within && within + 16 <= end) return Covered::kWholly;
    covered = Covered::kPartly;
  }
  return covered;
}

}  // namespace dali_core

extern "C" __global__ void __launch_bounds__(256, 4)
    erase_regions(const dali_core::EraseTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const EraseTask& task = tasks[sample_of_block()];
  const char* const in = static_cast<const char*>(task.in);
  char* const out = static_cast<char*>(task.out);
  const int64_t bytes = task.count * task.bytes;
  const int64_t position_bytes = task.position_bytes;
  const QuickDivisor line_bytes = task.line_bytes;
  const ByteRange memory(in, bytes);
  const bool has_one_value = task.channel_axis < 0 && task.bytes <= 4;
  uint32_t value = static_cast<uint32_t>(task.values[0]);
  if (task.bytes == 1) value = (value & 255) * 0x01010101u;
  if (task.bytes == 2) value = (value & 65535) * 0x00010001u;
  const int64_t before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % 16);
  for (int64_t item = first_item(); item * 16 < bytes + before; item += item_step()) {
    const int64_t begin = item * 16 - before;
    const int64_t line = begin < 0 ? 0 : quotient(begin, line_bytes);
    const int64_t within = begin - line * line_bytes.divisor;
    ElementGroup<uint32_t> words;
    if (begin >= 0 && within + 16 <= line_bytes.divisor && memory.has_words(in + begin, 16)) {
      const Covered covered = coverage(task, line, within, position_bytes);
      if (covered == Covered::kNot || (covered == Covered::kWholly && has_one_value)) {
        load_words(in + begin, words.elements);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          words.elements[i] = covered == Covered::kNot ? words.elements[i] : value;
        store_whole(reinterpret_cast<uint32_t*>(out + begin), words);
        continue;
      }
    }
    erase_elements(task, begin < 0 ? 0 : begin, begin + 16 < bytes ? begin + 16 : bytes);
  }
}
