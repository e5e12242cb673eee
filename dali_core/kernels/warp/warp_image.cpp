#include "dali_core/kernels/warp/warp_image.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/kernels/warp/warp_block.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/kernels/warp/warp_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// Offsets are 32 bits wide, and may go one row and plane beyond.
constexpr int64_t kMaxPixels = int64_t{1} << 30;

void check_pixels(const int64_t* extent, int ndim, const char* what) {
  int64_t pixels = 1;
  for (int d = 0; d < ndim; ++d) {
    pixels *= extent[d];
    if (pixels > kMaxPixels || extent[d] > kMaxPixels)
      throw std::invalid_argument(std::string(what) + " must have at most 2^30 pixels (got " +
                                  std::to_string(extent[d]) +
                                  " along one axis, and others). Warp "
                                  "parts of it.");
  }
}

}  // namespace

namespace {

// A number as an element of `type`: its bytes are the first in memory.
uint64_t bits_as(float value, DataType type) {
  uint64_t bits = 0;
  convert_from_floats(&value, &bits, type, 1);
  return bits;
}

// What is left of a number that is stored as an element of `type`.
float as_stored(float value, DataType type) {
  const uint64_t bits = bits_as(value, type);
  convert_to_floats(&bits, type, &value, 1);
  return value;
}

// Copies pixels of `kBytes` bytes, or of `bytes` if that is 0.
template <int kBytes>
void copy_pixels(const char* pixels, const char* fill, int64_t bytes, const int32_t* offsets,
                 int count, char* out) {
  if constexpr (kBytes > 0) bytes = kBytes;
  for (int i = 0; i < count; ++i, out += bytes)
    std::memcpy(out, offsets[i] >= 0 ? pixels + offsets[i] * bytes : fill,
                static_cast<size_t>(bytes));
}

void copy_nearest(const void* pixels, const char* fill, int64_t bytes, const int32_t* offsets,
                  int count, void* output) {
  const char* const in = static_cast<const char*>(pixels);
  char* const out = static_cast<char*>(output);
  switch (bytes) {
    case 1:
      return copy_pixels<1>(in, fill, bytes, offsets, count, out);
    case 2:
      return copy_pixels<2>(in, fill, bytes, offsets, count, out);
    case 3:
      return copy_pixels<3>(in, fill, bytes, offsets, count, out);
    case 4:
      return copy_pixels<4>(in, fill, bytes, offsets, count, out);
    case 6:
      return copy_pixels<6>(in, fill, bytes, offsets, count, out);
    case 8:
      return copy_pixels<8>(in, fill, bytes, offsets, count, out);
    case 12:
      return copy_pixels<12>(in, fill, bytes, offsets, count, out);
    case 16:
      return copy_pixels<16>(in, fill, bytes, offsets, count, out);
    default:
      return copy_pixels<0>(in, fill, bytes, offsets, count, out);
  }
}

// Of nearest pixels, the fill value takes the type of the output, of blended ones that of the
// input: so does NVIDIA DALI.
template <int kDims>
void warp_nearest(const WarpTask<kDims>& task, const WarpKernels<kDims>& kernels,
                  WarpBlock<kDims>& block, int count, int64_t offset) {
  const int64_t channels = task.source.channels;
  const int64_t pixel_bytes = channels * size_of(task.input_type);
  const char* const fill = static_cast<const char*>(task.scratch);
  void* const out = element_at(task.output, task.output_type, offset);
  kernels.find_nearest(task.source, count, block);
  if (task.output_type == task.input_type)
    return copy_nearest(task.source.pixels, fill, pixel_bytes, block.offsets, count, out);
  void* const values = static_cast<char*>(task.scratch) + pixel_bytes;
  copy_nearest(task.source.pixels, fill, pixel_bytes, block.offsets, count, values);
  convert_elements(values, task.input_type, out, task.output_type, count * channels);
  const uint64_t bits = bits_as(task.fill_value, task.output_type);
  for (int i = 0; i < count; ++i)
    if (block.offsets[i] < 0)
      fill_elements(element_at(out, task.output_type, i * channels), channels,
                    size_of(task.output_type), bits);
}

template <int kDims>
void warp_linear(const WarpTask<kDims>& task, const WarpKernels<kDims>& kernels,
                 WarpBlock<kDims>& block, float fill, int count, int64_t offset) {
  void* const out = element_at(task.output, task.output_type, offset);
  const bool direct = task.output_type == DataType::kFloat;
  float* const values = static_cast<float*>(direct ? out : task.scratch);
  kernels.find_neighbours(task.source, count, block);
  kernels.blend(task.source, fill, block, count, values);
  if (!direct) convert_from_floats(values, out, task.output_type, count * task.source.channels);
}

}  // namespace

template <int kDims>
void warp_frame(const WarpTask<kDims>& task, WarpCoordinates<kDims> find_coordinates,
                const void* rule) {
  const WarpKernels<kDims> kernels = DC_SIMD_DISPATCH(warp_kernels<kDims>, task.input_type);
  WarpBlock<kDims> block;
  const int64_t channels = task.source.channels;
  const float fill = as_stored(task.fill_value, task.input_type);
  if (task.nearest)
    fill_elements(task.scratch, channels, size_of(task.input_type),
                  bits_as(task.fill_value, task.input_type));
  int64_t offset = 0;
  int32_t position[3] = {};
  for (position[2] = 0; position[2] < (kDims == 3 ? task.extent[kDims - 1] : 1); ++position[2]) {
    for (position[1] = 0; position[1] < task.extent[1]; ++position[1]) {
      for (position[0] = 0; position[0] < task.extent[0]; position[0] += task.block) {
        const int count = std::min(task.block, task.extent[0] - position[0]);
        find_coordinates(rule, position, count, block.coordinates);
        if (task.nearest)
          warp_nearest(task, kernels, block, count, offset);
        else
          warp_linear(task, kernels, block, fill, count, offset);
        offset += count * channels;
      }
    }
  }
}

template <int kDims>
void warp_frame(const WarpTask<kDims>& task, const WarpMap<kDims>& map) {
  const WarpCoordinates<kDims> find_affine = DC_SIMD_DISPATCH(affine_coordinates<kDims>);
  warp_frame(task, find_affine, &map);
}

template void warp_frame<2>(const WarpTask<2>&, WarpCoordinates<2>, const void*);
template void warp_frame<2>(const WarpTask<2>&, const WarpMap<2>&);
template void warp_frame<3>(const WarpTask<3>&, const WarpMap<3>&);

WarpShape warp_shape(const Tensor& image) {
  const Layout layout = image_layout(image, "FHWC");
  bool known = false;
  for (const char* allowed : {"HWC", "FHWC", "DHWC", "FDHWC"}) known |= layout == Layout(allowed);
  if (!known)
    throw std::invalid_argument(
        "the input's layout must be \"HWC\", \"FHWC\", \"DHWC\" or \"FDHWC\" (got \"" +
        std::string(layout.c_str()) + "\"). Reorder the dimensions before this operator.");
  const Shape& shape = image.shape;
  const int last = shape.ndim - 1;
  WarpShape result{layout, layout.find('D') < 0 ? 2 : 3, 1, shape[last], {1, 1, 1}};
  for (int d = 0; d < result.num_dims; ++d) result.extent[d] = shape[last - 1 - d];
  if (layout[0] == 'F') result.frames = shape[0];
  return result;
}

WarpArguments::WarpArguments(const OperatorConfig& config)
    : size_(config, "size"),
      type_(config.get_or<DataType>("dtype",
                                    config.get_or<DataType>("output_dtype", DataType::kNone))),
      nearest_(config.get<int64_t>("interp_type") == 0),
      repeats_border_(!config.has("fill_value")),
      fill_value_(config.get_or<float>("fill_value", 0)) {}

void WarpArguments::size(const SampleContext& sample, const WarpShape& shape,
                         int64_t* extent) const {
  std::vector<float> storage;
  const std::vector<float>& size = size_.at(sample, storage);
  if (static_cast<int>(size.size()) != shape.num_dims)
    throw std::invalid_argument(
        std::string("size must be ") +
        (shape.num_dims == 2 ? "(height, width)" : "(depth, height, width)") + " (got " +
        std::to_string(size.size()) + " numbers for an input with layout \"" +
        shape.layout.c_str() + "\"). Leave channels and frames out.");
  for (int d = 0; d < shape.num_dims; ++d) {
    const float given = size[size.size() - 1 - d];
    // As in NVIDIA DALI, only constant sizes are rounded.
    const float whole = size_.is_constant() ? std::max(std::round(given), 1.0f) : std::trunc(given);
    if (!(given > 0 && whole >= 1 && whole <= 1e9f))
      throw std::invalid_argument("size must be at least one pixel and at most 10^9 (got " +
                                  std::to_string(given) + "). Pass the size in pixels.");
    extent[d] = static_cast<int64_t>(whole);
  }
}

Inferred WarpArguments::infer(const SampleContext& sample, const WarpShape& shape,
                              const int64_t* extent) const {
  const Tensor& image = sample.input(0);
  visit_warp_type(image.type, [](auto) {});
  check_pixels(extent, shape.num_dims, "the output");
  Inferred inferred{type_ == DataType::kNone ? image.type : type_, image.shape, shape.layout};
  bool is_empty = shape.frames * shape.channels == 0;
  for (int d = 0; d < shape.num_dims; ++d) {
    inferred.shape[image.shape.ndim - 2 - d] = extent[d];
    is_empty |= extent[d] == 0;
  }
  if (is_empty) return inferred;
  check_pixels(shape.extent, shape.num_dims, "the input");
  if (repeats_border_ && image.num_elements() == 0)
    throw std::invalid_argument("the input must not be empty (got shape " + to_string(image.shape) +
                                "). There is no border to repeat; set fill_value.");
  return inferred;
}

template <int kDims>
WarpTask<kDims> WarpArguments::task(const Tensor& image, const WarpShape& shape,
                                    const int64_t* extent, const Tensor& output) const {
  WarpTask<kDims> task;
  int64_t pixels = 1;
  for (int d = 0; d < kDims; ++d) {
    task.source.extent[d] = static_cast<int32_t>(shape.extent[d]);
    task.source.stride[d] = static_cast<int32_t>(pixels);
    task.extent[d] = static_cast<int32_t>(extent[d]);
    pixels *= shape.extent[d];
  }
  task.source.pixels = image.data;
  task.source.channels = shape.channels;
  task.source.repeats_border = repeats_border_;
  task.input_type = image.type;
  task.output_type = output.type;
  task.output = output.data;
  // Of an input without pixels, there is nothing but the fill value.
  const bool is_empty = image.num_elements() == 0;
  task.nearest = nearest_ || is_empty;
  task.fill_value = nearest_ || !is_empty ? fill_value_ : as_stored(fill_value_, image.type);
  task.scratch = nullptr;
  task.block = warp_block_size(shape.channels);
  return task;
}

template WarpTask<2> WarpArguments::task<2>(const Tensor&, const WarpShape&, const int64_t*,
                                            const Tensor&) const;
template WarpTask<3> WarpArguments::task<3>(const Tensor&, const WarpShape&, const int64_t*,
                                            const Tensor&) const;

}  // namespace dali_core
