#include "dali_core/kernels/fill/fill_elements.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/kernels/fill/fill_value.hpp"
#include "dali_core/types.hpp"

namespace dali_core {
namespace {

constexpr int64_t kFirstBytes = 512;
constexpr int64_t kCopiedBytes = 1 << 13;  // at a time, so that they stay in the cache

template <typename T>
void fill_with_bits(void* output, int64_t count, uint64_t bits, int64_t stride) {
  T element;
  std::memcpy(&element, &bits, sizeof element);
  T* const out = static_cast<T*>(output);
  if (stride == 1)
    std::fill_n(out, count, element);
  else
    for (int64_t i = 0; i < count; ++i) out[i * stride] = element;
}

void fill_one_by_one(void* out, int64_t count, int64_t bytes, uint64_t bits, int64_t stride) {
  switch (bytes) {
    case 1:
      return fill_with_bits<uint8_t>(out, count, bits, stride);
    case 2:
      return fill_with_bits<uint16_t>(out, count, bits, stride);
    case 4:
      return fill_with_bits<uint32_t>(out, count, bits, stride);
    default:
      return fill_with_bits<uint64_t>(out, count, bits, stride);
  }
}

bool has_equal_bytes(uint64_t bits, int64_t bytes) {
  const uint64_t repeated = (bits & 0xff) * 0x0101010101010101u;
  return (bits ^ repeated) << (64 - 8 * bytes) == 0;
}

}  // namespace

uint64_t fill_bits(DataType type, float value) {
  return visit_type(type, [&](auto zero) {
    const auto element = fill_value<decltype(zero)>(value);
    uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof element);
    return bits;
  });
}

void fill_elements(void* out, int64_t count, int64_t bytes, uint64_t bits, int64_t stride) {
  if (stride == 1 && has_equal_bytes(bits, bytes)) {
    if (count > 0)
      std::memset(out, static_cast<int>(bits & 0xff), static_cast<size_t>(count * bytes));
    return;
  }
  const int64_t first = stride == 1 ? std::min(count, kFirstBytes / bytes) : count;
  fill_one_by_one(out, first, bytes, bits, stride);
  // What is there is copied: the C library's copies use what registers the processor has.
  for (int64_t done = first; done < count;) {
    const int64_t some = std::min({done, kCopiedBytes / bytes, count - done});
    std::memcpy(static_cast<char*>(out) + done * bytes, out, static_cast<size_t>(some * bytes));
    done += some;
  }
}

}  // namespace dali_core
