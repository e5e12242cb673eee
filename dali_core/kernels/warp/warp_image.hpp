// Warping of images, volumes and sequences of them; shared by all operators that map coordinates.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/warp/warp.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Most pixels of a row that are computed at once.
constexpr int kWarpBlock = 256;

// Calls `function` with an object of the C++ type behind `type`, which must be one that images to
// warp may have.
template <typename Function>
inline decltype(auto) visit_warp_type(DataType type, Function&& function) {
  switch (type) {
    case DataType::kUInt8:
      return function(uint8_t{});
    case DataType::kInt16:
      return function(int16_t{});
    case DataType::kUInt16:
      return function(uint16_t{});
    case DataType::kInt32:
      return function(int32_t{});
    case DataType::kFloat:
      return function(float{});
    default:
      throw std::invalid_argument(
          std::string("images must have type uint8, int16, uint16, int32 or float32 (got ") +
          name_of(type) + "). Use fn.cast, or another dtype.");
  }
}

// One frame to compute. Extents are in the order x, y, z.
template <int kDims>
struct WarpTask {
  WarpSource<kDims> source;
  DataType input_type;
  DataType output_type;
  void* output;
  int32_t extent[kDims];
  bool nearest;
  float fill_value;
  void* scratch;  // of the host: warp_scratch_size() bytes
  int32_t block;  // how many pixels to compute at once
};

// Fills in where `count` pixels of the output, from `position` on, lie in the input by `rule`.
template <int kDims>
using WarpCoordinates = void (*)(const void* rule, const int32_t* position, int count,
                                 float (*coordinates)[kWarpBlock]);

// Computes one frame.
template <int kDims>
void warp_frame(const WarpTask<kDims>& task, WarpCoordinates<kDims> find_coordinates,
                const void* rule);

// The same where an affine transform finds the coordinates.
template <int kDims>
void warp_frame(const WarpTask<kDims>& task, const WarpMap<kDims>& map);

// How many pixels of an image are computed at once, and what memory that takes.
inline int32_t warp_block_size(int64_t channels) {
  const int64_t size = channels > 0 ? 4096 / channels : kWarpBlock;
  return static_cast<int32_t>(size < 1 ? 1 : size > kWarpBlock ? kWarpBlock : size);
}
inline size_t warp_scratch_size(int64_t channels) {
  return static_cast<size_t>((warp_block_size(channels) + 1) * channels + 4) * sizeof(float);
}

// What the dimensions of the input are.
struct WarpShape {
  Layout layout;
  int num_dims;  // 2 for images, 3 for volumes
  int64_t frames;
  int64_t channels;
  int64_t extent[3];  // x, y, z
};

WarpShape warp_shape(const Tensor& image);

// The arguments size, dtype, fill_value and interp_type.
class WarpArguments {
 public:
  explicit WarpArguments(const OperatorConfig& config);

  bool has_size() const { return size_.given(); }

  // The size that the user gave, in the order x, y, z.
  void size(const SampleContext& sample, const WarpShape& shape, int64_t* extent) const;

  // Output 0, of the given size.
  Inferred infer(const SampleContext& sample, const WarpShape& shape, const int64_t* extent) const;

  // What to compute for the first frame, with scratch memory still to be set. The output is not
  // empty.
  template <int kDims>
  WarpTask<kDims> task(const Tensor& image, const WarpShape& shape, const int64_t* extent,
                       const Tensor& output) const;

 private:
  ListArgument<float> size_;
  DataType type_;
  bool nearest_;
  bool repeats_border_;
  float fill_value_;
};

}  // namespace dali_core
