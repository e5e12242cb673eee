#include "dali_core/kernels/resample/uploaded_taps.hpp"

namespace dali_core {
namespace {

bool is_same(const ResampleAxis& a, const ResampleAxis& b) {
  return a.input_size == b.input_size && a.output_size == b.output_size && a.begin == b.begin &&
         a.end == b.end && a.filter == b.filter && a.antialias == b.antialias &&
         a.first_output == b.first_output && a.made() == b.made() && a.reverse == b.reverse &&
         a.running == b.running;
}

}  // namespace

// Those of one tap lie together, so that threads side by side read numbers side by side.
template <typename T>
const T* UploadedTaps::upload_weights(const T* weights, int64_t num_outputs, int num_taps) {
  const auto uploaded = batch_.upload<T>(static_cast<size_t>(num_outputs * num_taps));
  for (int k = 0; k < num_taps; ++k)
    for (int64_t i = 0; i < num_outputs; ++i)
      uploaded.host[k * num_outputs + i] = weights[i * num_taps + k];
  return uploaded.device;
}

DeviceTaps UploadedTaps::upload(const ResampleAxis& axis, const AxisTaps& taps, bool is_fixed,
                                int64_t base) {
  if (last_.starts != nullptr && is_same(axis, last_axis_) && is_fixed == last_is_fixed_ &&
      base == last_base_)
    return last_;
  last_axis_ = axis;
  last_is_fixed_ = is_fixed;
  last_base_ = base;
  const int64_t num_outputs = taps.num_outputs();
  const int num_taps = taps.num_taps();
  const auto starts = batch_.upload<int32_t>(static_cast<size_t>(num_outputs));
  const auto num_weights = static_cast<size_t>(num_outputs * num_taps);
  require_host_memory(num_weights * sizeof(float));
  std::vector<float> weights(num_weights);
  taps.fill(starts.host, weights.data());
  for (int64_t i = 0; i < num_outputs; ++i)
    starts.host[i] = static_cast<int32_t>(starts.host[i] - base);
  last_.starts = starts.device;
  last_.num_taps = num_taps;
  if (is_fixed) {
    std::vector<int16_t> rounded(weights.size());
    round_weights(weights.data(), num_outputs, num_taps, rounded.data());
    last_.weights = upload_weights(rounded.data(), num_outputs, num_taps);
  } else {
    last_.weights = upload_weights(weights.data(), num_outputs, num_taps);
  }
  return last_;
}

}  // namespace dali_core
