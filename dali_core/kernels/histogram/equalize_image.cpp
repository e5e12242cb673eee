#include "dali_core/kernels/histogram/equalize_image.hpp"

#include <cstring>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/histogram/equalize.hpp"

namespace dali_core {
namespace {

template <int Channels, int Apart>
void count_apart(const uint8_t* pixels, int64_t num_pixels, uint32_t* histograms) {
  uint32_t counts[Apart][Channels * kNumLevels] = {};
  int64_t i = 0;
  for (; i + Apart <= num_pixels; i += Apart, pixels += Apart * Channels)
    for (int k = 0; k < Apart; ++k)
      for (int c = 0; c < Channels; ++c) ++counts[k][c * kNumLevels + pixels[k * Channels + c]];
  for (; i < num_pixels; ++i, pixels += Channels)
    for (int c = 0; c < Channels; ++c) ++counts[0][c * kNumLevels + pixels[c]];
  for (int k = 0; k < Apart; ++k)
    for (int level = 0; level < Channels * kNumLevels; ++level)
      histograms[level] += counts[k][level];
}

// Histograms of interleaved channels, one after the other. Neighbours are counted apart: equal ones
// would wait for each other.
void count_levels(const uint8_t* pixels, int64_t num_pixels, int64_t num_channels,
                  uint32_t* histograms) {
  std::memset(histograms, 0, static_cast<size_t>(num_channels) * kNumLevels * sizeof(uint32_t));
  if (num_channels == 1) {
    count_apart<1, 4>(pixels, num_pixels, histograms);
    return;
  }
  if (num_channels == 3) {
    count_apart<3, 2>(pixels, num_pixels, histograms);
    return;
  }
  for (int64_t i = 0; i < num_pixels; ++i, pixels += num_channels)
    for (int64_t c = 0; c < num_channels; ++c) ++histograms[c * kNumLevels + pixels[c]];
}

template <int Channels>
void map_channels(const uint8_t* __restrict pixels, uint8_t* __restrict out, int64_t num_pixels,
                  const uint8_t* __restrict levels) {
  for (int64_t i = 0; i < num_pixels; ++i, pixels += Channels, out += Channels)
    for (int c = 0; c < Channels; ++c) out[c] = levels[c * kNumLevels + pixels[c]];
}

void map_levels(const uint8_t* pixels, uint8_t* out, int64_t num_pixels, int64_t num_channels,
                const uint8_t* levels) {
  if (num_channels == 1) return map_channels<1>(pixels, out, num_pixels, levels);
  if (num_channels == 3) return map_channels<3>(pixels, out, num_pixels, levels);
  for (int64_t i = 0; i < num_pixels; ++i, pixels += num_channels, out += num_channels)
    for (int64_t c = 0; c < num_channels; ++c) out[c] = levels[c * kNumLevels + pixels[c]];
}

Layout equalize_layout(const Tensor& image) {
  const Layout layout = image_layout(image, "FHWC");
  for (const char* allowed : {"HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"})
    if (layout == Layout(allowed)) return layout;
  throw std::invalid_argument(
      "the input's layout must be HW, HWC or CHW, with or without F before it (got \"" +
      std::string(layout.c_str()) + "\"). Reorder the dimensions before this operator.");
}

}  // namespace

EqualizedImages::EqualizedImages(const Tensor& input)
    : Inferred{input.type, input.shape, equalize_layout(input)} {
  if (type != DataType::kUInt8)
    throw std::invalid_argument("the input must be of type uint8 (got " +
                                std::string(name_of(type)) + "). Use fn.cast.");
  const ImageAxes axes = image_axes(layout);
  num_pixels = shape[axes.height] * shape[axes.width];
  if (axes.channel > axes.width) channels = shape[axes.channel];
  const int64_t size = num_pixels * channels;
  num_images = size > 0 ? input.num_elements() / size : 0;
}

void equalize_image(SampleContext& sample) {
  const Tensor& image = sample.input(0);
  const EqualizedImages images(image);
  Tensor& output = *sample.output(images);
  if (image.num_elements() == 0) return;
  const size_t num_levels = static_cast<size_t>(images.channels) * kNumLevels;
  uint32_t* const histograms = sample.scratch<uint32_t>(0, num_levels);
  uint8_t* const levels = sample.scratch<uint8_t>(1, num_levels);
  const int64_t image_size = images.num_pixels * images.channels;
  for (int64_t first = 0; first < image.num_elements(); first += image_size) {
    count_levels(image.as<uint8_t>() + first, images.num_pixels, images.channels, histograms);
    for (int64_t c = 0; c < images.channels; ++c)
      equalizing_levels(histograms + c * kNumLevels, images.num_pixels, levels + c * kNumLevels);
    map_levels(image.as<uint8_t>() + first, output.as<uint8_t>() + first, images.num_pixels,
               images.channels, levels);
  }
}

}  // namespace dali_core
