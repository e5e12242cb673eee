// Resampling of a whole batch on a device.
#pragma once

#include <optional>
#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/normalize/finished_image.hpp"
#include "dali_core/kernels/resample/resample.hpp"

namespace dali_core {

struct ResizeView;

// What has been decided about a sample.
struct PlannedResampling {
  bool is_forwarded = false;  // nothing but the layout changes
  DataType type{};            // of resampled images
  Shape shape{};              // of the output
  Layout layout{};
  std::optional<ResampleAxis> depth{};
  ResampleAxis rows{}, columns{};
  int64_t channels = 0;
  int64_t num_volumes = 0;   // or images, if there is no depth
  int64_t offset = 0;        // of the first element of the axes, in the input
  int64_t row_elements = 0;  // of the input, from one row to the next
  int64_t slice_elements = 0;
  std::optional<FinishedImage> finish{};

  PlannedResampling() = default;
  // As `resize_image` does it.
  PlannedResampling(const Tensor& input, const ResizeView& view, const ResampleAxis* axes,
                    DataType type);
};

// Declares output 0 of each sample, or forwards input 0. Declare other outputs beforehand.
void resample_on_device(DeviceBatch& batch, const std::vector<PlannedResampling>& planned);

}  // namespace dali_core
