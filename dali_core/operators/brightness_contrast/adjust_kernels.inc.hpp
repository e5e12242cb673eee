// Inner loops of adjust_image(), compiled for every instruction set (see simd.hpp), hence without
// guard.

#include "dali_core/convert_run.inc.hpp"

constexpr int64_t kElementsInBlock = 1024;

template <typename From, typename To>
inline void adjust_block(const From* __restrict in, To* __restrict out, int64_t count,
                         BrightnessContrast rule) {
  for (int64_t i = 0; i < count; ++i) out[i] = convert<To>(adjust(convert<float>(in[i]), rule));
}

// Types that are not the usual ones pass through a block of float.
template <typename From, typename To>
inline void adjust_run(const From* in, To* out, int64_t count, BrightnessContrast rule) {
  constexpr bool is_usual_input = std::is_same_v<From, uint8_t> || std::is_same_v<From, float>;
  constexpr bool is_usual_output = std::is_same_v<To, uint8_t> || std::is_same_v<To, float>;
  if constexpr (is_usual_input && is_usual_output) {
    adjust_block(in, out, count, rule);
  } else {
    alignas(64) float values[kElementsInBlock];
    alignas(64) float adjusted[kElementsInBlock];
    for (int64_t first = 0; first < count; first += kElementsInBlock) {
      const int64_t length = std::min(kElementsInBlock, count - first);
      convert_run(in + first, values, length);
      adjust_block(values, adjusted, length, rule);
      convert_run(adjusted, out + first, length);
    }
  }
}

inline void adjust_elements(const void* in, DataType input_type, void* out, DataType output_type,
                            int64_t count, BrightnessContrast rule) {
  visit_color_type(input_type, [&](auto from) {
    visit_color_type(output_type, [&](auto to) {
      adjust_run(static_cast<const decltype(from)*>(in), static_cast<decltype(to)*>(out), count,
                 rule);
    });
  });
}
