// Glue between decoding and operators: the encoded input, and a sink that writes to an output.
#pragma once

#include <algorithm>

#include <stdexcept>
#include <string>

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// The bytes of an image file, from an operator's input.
// Decoders take the bytes in further dimensions of one element each, as NVIDIA DALI's do.
inline EncodedImage encoded_input(const Tensor& input, bool may_have_ones = true) {
  int64_t longest = 0;
  for (int i = 0; i < input.shape.ndim; ++i) longest = std::max(longest, input.shape[i]);
  const bool is_row = input.shape.ndim == 1 ||
                      (may_have_ones && longest > 0 && longest == input.shape.num_elements());
  if (input.type != DataType::kUInt8 || !is_row)
    throw std::invalid_argument(
        std::string("the input must be the bytes of an image file, uint8 in one dimension (got ") +
        name_of(input.type) + " of shape " + to_string(input.shape) +
        "). Read files without decoding them.");
  return EncodedImage{input.as<uint8_t>(), static_cast<size_t>(longest)};
}

// Makes the decoded image output 0 of a sample. Operators that want a part of the image derive.
class SampleSink : public ImageSink {
 public:
  SampleSink(SampleContext& sample, DataType dtype) : sample_(sample), dtype_(dtype) {}

  void* allocate(int64_t height, int64_t width, int channels) override {
    return sample_.output(0, dtype_, Shape{height, width, channels}, "HWC").data;
  }

 private:
  SampleContext& sample_;
  DataType dtype_;
};

}  // namespace dali_core
