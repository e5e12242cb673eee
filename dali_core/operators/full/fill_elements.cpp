#include "dali_core/fill_elements.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/types.hpp"
#include "dali_core/window_rule.hpp"

namespace dali_core {
namespace {

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

}  // namespace dali_core
