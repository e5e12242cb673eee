// Pastes regions of images on canvases, 16 bytes of the canvas at a time.
#include "dali_core/kernels/paste/paste.hpp"

#include "dali_core/device_kernel.hpp"
#include "dali_core/device_words.hpp"

namespace dali_core {

// Bytes from `begin` to before `end`, one by one.
__device__ __noinline__ void paste_bytes(const PasteTask& task, int64_t begin, int64_t end) {
#pragma unroll 1
  for (int64_t place = begin; place < end; ++place) {
    const int64_t row = quotient(place, task.row_bytes);
    const int64_t within = place - row * task.row_bytes.divisor;
    const uint8_t* from = nullptr;
#pragma unroll 1
    for (int i = task.num_regions - 1; i >= 0 && from == nullptr; --i) {
      const PastedRegion& region = task.region(i);
      if (row >= region.top && row < region.bottom && within >= region.left &&
          within < region.right)
        from = reinterpret_cast<const uint8_t*>(region.source(row, within));
    }
    static_cast<uint8_t*>(task.out)[place] = from == nullptr ? task.color_byte(within) : *from;
  }
}

// 16 bytes of a canvas that has its colour there; false: byte by byte.
inline __device__ bool load_color(const PasteTask& task, int64_t within, uint32_t (&words)[4]) {
  const QuickDivisor divisor = task.color_bytes;
  if (divisor.divisor > kShortColor) return false;
  const int skipped = static_cast<int>(within - quotient(within, divisor) * divisor.divisor);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    words[i] = word_across(task.repeated[i], task.repeated[i + 1], skipped);
  return true;
}

// 16 bytes of one row of the canvas; false: byte by byte.
inline __device__ bool load_pasted(const PasteTask& task, int64_t row, int64_t within,
                                   uint32_t (&words)[4]) {
#pragma unroll 1
  for (int i = task.num_regions - 1; i >= 0; --i) {
    const PastedRegion& region = task.region(i);
    if (row < region.top || row >= region.bottom || within + 16 <= region.left ||
        within >= region.right)
      continue;
    const char* const from = region.source(row, within);
    if (within < region.left || within + 16 > region.right ||
        !ByteRange(region.image, region.image_bytes).has_words(from, 16))
      return false;
    load_words(from, words);
    return true;
  }
  return load_color(task, within, words);
}

}  // namespace dali_core

extern "C" __global__ void __launch_bounds__(256, 4)
    paste_regions(const dali_core::PasteTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const PasteTask& task = tasks[sample_of_block()];
  char* const out = static_cast<char*>(task.out);
  const int64_t bytes = task.bytes;
  const QuickDivisor row_bytes = task.row_bytes;
  const int64_t before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % 16);
  for (int64_t item = first_item(); item * 16 < bytes + before; item += item_step()) {
    const int64_t begin = item * 16 - before;
    const int64_t row = begin < 0 ? 0 : quotient(begin, row_bytes);
    const int64_t within = begin - row * row_bytes.divisor;
    ElementGroup<uint32_t> words;
    if (begin >= 0 && within + 16 <= row_bytes.divisor &&
        load_pasted(task, row, within, words.elements))
      store_whole(reinterpret_cast<uint32_t*>(out + begin), words);
    else
      paste_bytes(task, begin < 0 ? 0 : begin, begin + 16 < bytes ? begin + 16 : bytes);
  }
}
