// Checks of the inputs of operators on colours: channels come last, and numbers are of few types.
#pragma once

#include <stdexcept>
#include <string>

#include "dali_core/each_frame.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Layout of an image, volume or sequence whose channels are its last dimension; sequences of
// volumes only where they are allowed.
inline Layout color_layout(const Tensor& image, bool volume_sequences = false) {
  const Layout layout = image_layout(image, "FHWC");
  for (const char* allowed : {"HWC", "FHWC", "DHWC"})
    if (layout == Layout(allowed)) return layout;
  if (volume_sequences && layout == Layout("FDHWC")) return layout;
  throw std::invalid_argument(
      "the input's layout must be \"HWC\", \"FHWC\"" +
      std::string(volume_sequences ? ", \"DHWC\" or \"FDHWC\"" : " or \"DHWC\"") + " (got \"" +
      layout.c_str() + "\"). Reorder the dimensions before this operator.");
}

inline void check_channels(const Tensor& image, int64_t expected) {
  const int64_t channels = image.shape[image.shape.ndim - 1];
  if (channels != expected)
    throw std::invalid_argument("the input must have " + std::to_string(expected) +
                                (expected == 1 ? " channel" : " channels") + " (got " +
                                std::to_string(channels) + " in shape " + to_string(image.shape) +
                                "). Convert it to the expected colour space before.");
}

// Calls `function` with an object of the C++ type behind `type`, which must be one of the types
// that colours are computed in.
template <typename Function>
inline void visit_color_type(DataType type, Function&& function) {
  switch (type) {
    case DataType::kUInt8:
      return function(uint8_t{});
    case DataType::kInt16:
      return function(int16_t{});
    case DataType::kInt32:
      return function(int32_t{});
    case DataType::kFloat16:
      return function(Half{});
    case DataType::kFloat:
      return function(float{});
    default:
      throw std::invalid_argument(
          std::string("the type of colours must be uint8, int16, int32, float16 or float32 (got ") +
          name_of(type) + "). Use fn.cast, or another dtype.");
  }
}

inline void check_color_type(DataType type) {
  visit_color_type(type, [](auto) {});
}

// The type of the output: `dtype`, or the input's if it is not given.
class ColorOutputType {
 public:
  explicit ColorOutputType(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype", DataType::kNone)) {}

  DataType of(const Tensor& image) const { return type_ == DataType::kNone ? image.type : type_; }

 private:
  DataType type_;
};

}  // namespace dali_core
