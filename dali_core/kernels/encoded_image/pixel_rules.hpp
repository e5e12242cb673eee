// The rule for one decoded sample: full range of the stored type becomes full range of the output
// type (0..1 for floats), and RGB becomes YCbCr with headroom.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

template <typename T>
constexpr float full_range() {
  if constexpr (is_floating<T>)
    return 1.0f;
  else
    return static_cast<float>(std::numeric_limits<T>::max());
}

// convert<Result>(value) for values that are inside the range of `Result` already: truncation
// vectorises on every processor, rounding does not.
template <typename Result>
DC_HOST_DEV Result convert_in_range(float value) {
  if constexpr (is_floating<Result> || sizeof(Result) > 2) {
    return convert<Result>(value);
  } else {
    const int32_t whole = static_cast<int32_t>(value);
    return static_cast<Result>(whole + (value - static_cast<float>(whole) >= 0.5f));
  }
}

// ITU-R BT.601 with 219 levels of luma and 224 of chroma.
struct YCbCrRule {
  float luma[3], blue[3], red[3];
  float luma_offset, chroma_offset;
};

// What is computed from stored samples as float, to get them in units of a type.
struct SampleRule {
  float scale;
  YCbCrRule ycbcr;
};

// Offsets are 16/256 and 128/256 of the range, integer where the type is.
template <typename Result>
YCbCrRule make_ycbcr_rule(float source_range) {
  double range = 1.0;
  if constexpr (!is_floating<Result>)
    range = static_cast<double>(std::numeric_limits<Result>::max());
  const float scale = static_cast<float>(range / static_cast<double>(source_range));
  constexpr double kLuma[3] = {0.25678823529, 0.50412941176, 0.09790588235};
  constexpr double kBlue[3] = {-0.14822289945, -0.29099278682, 0.43921568627};
  constexpr double kRed[3] = {0.43921568627, -0.36778831435, -0.07142737192};
  YCbCrRule rule;
  for (int i = 0; i < 3; ++i) {
    rule.luma[i] = static_cast<float>(kLuma[i]) * scale;
    rule.blue[i] = static_cast<float>(kBlue[i]) * scale;
    rule.red[i] = static_cast<float>(kRed[i]) * scale;
  }
  const double levels = is_floating<Result> ? 1.0 : range + 1.0;
  rule.luma_offset = static_cast<float>(levels / 16);
  rule.chroma_offset = static_cast<float>(levels / 2);
  return rule;
}

DC_HOST_DEV float dot3(const float* weights, float r, float g, float b) {
  return weights[0] * r + weights[1] * g + weights[2] * b;
}

}  // namespace dali_core
