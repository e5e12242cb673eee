// The numbers of the frames of a clip: those beyond the end of a video are padding.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace dali_core {

enum class ClipPadding : int8_t { kNone, kConstant, kEdge, kReflect1001, kReflect101 };

// A number that stands for a frame of one colour.
constexpr int64_t kFilled = -1;

inline ClipPadding clip_padding(const std::string& name) {
  if (name == "none") return ClipPadding::kNone;
  if (name == "constant") return ClipPadding::kConstant;
  if (name == "edge" || name == "repeat") return ClipPadding::kEdge;
  if (name == "reflect_1001" || name == "symmetric") return ClipPadding::kReflect1001;
  if (name == "reflect_101" || name == "reflect") return ClipPadding::kReflect101;
  throw std::invalid_argument(
      "pad_mode must be 'none', 'constant', 'edge', 'reflect_1001' or 'reflect_101' (got \"" +
      name + "\"). Use one of them.");
}

// The frame that stands at `number` where only 0 to end - 1 exist, or kFilled; `end` is above 0.
inline int64_t padded_number(int64_t number, int64_t end, ClipPadding padding) {
  if (number >= 0 && number < end) return number;
  switch (padding) {
    case ClipPadding::kEdge:
      return number < 0 ? 0 : end - 1;
    case ClipPadding::kReflect1001: {
      const int64_t period = 2 * end;
      const int64_t place = (number % period + period) % period;
      return place < end ? place : period - 1 - place;
    }
    case ClipPadding::kReflect101: {
      if (end == 1) return 0;
      const int64_t period = 2 * (end - 1);
      const int64_t place = (number % period + period) % period;
      return place < end ? place : period - place;
    }
    default:
      return kFilled;
  }
}

// Place `i` of `count` places that are evenly spread over the frames first to end - 1, rounded half
// up.
inline int64_t spread_number(int64_t i, int64_t count, int64_t first, int64_t end) {
  if (count <= 1) return first;
  const double step = static_cast<double>(end - 1 - first) / static_cast<double>(count - 1);
  const double place = static_cast<double>(first) + static_cast<double>(i) * step;
  return static_cast<int64_t>(place + 0.5);
}

}  // namespace dali_core
