// fn.equalize: what the images of a sample are, and the host loop.
#pragma once

#include "dali_core/operator.hpp"

namespace dali_core {

// Images of interleaved pixels that follow each other.
struct EqualizedImages : Inferred {
  int64_t num_images = 0;
  int64_t num_pixels = 0;  // of an image
  int64_t channels = 1;

  explicit EqualizedImages(const Tensor& input);
};

// Output 0 of the sample becomes input 0 with equalized histograms.
void equalize_image(SampleContext& sample);

}  // namespace dali_core
