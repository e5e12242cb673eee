// Normalisation of a whole batch on a device, as one launch.
#pragma once

#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/kernels/normalize/finished_channel.hpp"
#include "dali_core/kernels/window/window.hpp"

namespace dali_core {

// What has been decided about a sample.
struct PlannedNormalization {
  Window window;
  ImageAxes axes;  // of the input
  bool mirror_columns = false;
  bool mirror_rows = false;
  bool is_forwarded = false;  // nothing but the layout changes
  DataType type{};
  Shape shape{};  // of the output
  Layout layout{};
  int input_axis[kMaxDims] = {};  // which dimension of the input each one of the output is
  std::vector<FinishedChannel> channels{};
};

// Declares output 0 of each sample, or forwards input 0.
void normalize_on_device(DeviceBatch& batch, const std::vector<PlannedNormalization>& planned);

// The channels of a sample, for kernels. A sample with the same ones as the sample before it shares
// them.
class UploadedChannels {
 public:
  explicit UploadedChannels(DeviceBatch& batch) : batch_(batch) {}

  const FinishedChannel* upload(const std::vector<FinishedChannel>& channels);

 private:
  DeviceBatch& batch_;
  std::vector<FinishedChannel> last_;
  const FinishedChannel* on_device_ = nullptr;
};

}  // namespace dali_core
