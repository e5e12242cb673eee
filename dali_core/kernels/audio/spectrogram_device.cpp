#include "dali_core/kernels/audio/spectrogram_device.hpp"

#include <algorithm>
#include <vector>

#include "dali_core/device_arrays.hpp"

namespace dali_core {
namespace {

// Of memory for the windows of all blocks that do not fit into shared memory, if there are several
// for a signal.
constexpr int64_t kBytesOfLongWindows = int64_t{32} << 20;

int64_t bytes_of(int64_t floats) { return floats * static_cast<int64_t>(sizeof(float)); }

}  // namespace

SpectrogramOnDevice::SpectrogramOnDevice(const SpectrogramRule& rule, int64_t most_windows,
                                         int num_signals)
    : rule_(rule) {
  // A convolution has a second transform beside the first. Windows do not begin in the same bank of
  // shared memory.
  pitch_ = (rule.transform.complex.convolution ? 4 : 2) * factored().points + 1;
  is_shared_ = bytes_of(pitch_) <= kLongestWindowBytes;
  const auto windows = [&] { return int64_t{1} << windows_shift_; };
  while (is_shared_ && windows() < std::min(kMostWindows, most_windows) &&
         2 * windows() * bytes_of(pitch_) <= kWindowBytes)
    ++windows_shift_;
  num_blocks_ = blocks_for(most_windows, windows());
  if (!is_shared_)
    num_blocks_ =
        std::clamp<int64_t>(kBytesOfLongWindows / bytes_of(pitch_) / num_signals, 1, num_blocks_);
}

unsigned SpectrogramOnDevice::shared_bytes() const {
  return is_shared_ ? static_cast<unsigned>(bytes_of(pitch_) << windows_shift_) : 0;
}

float* SpectrogramOnDevice::memory_for(DeviceBatch& batch, int64_t num_windows) const {
  if (is_shared_) return nullptr;
  const int64_t bytes = bytes_of(pitch_) * std::min(num_windows, num_blocks_);
  return static_cast<float*>(batch.scratch(static_cast<size_t>(bytes)));
}

FourierTables SpectrogramOnDevice::upload_transform(DeviceBatch& batch) const {
  const ComplexTransform& transform = factored();
  std::vector<FourierStage> stages;
  int64_t length = transform.points, first_twiddle = 0;
  for (const int factor : transform.factors) {
    const int64_t part = length / factor;
    stages.push_back({factor, quick_divisor(part), quick_divisor(transform.points / factor),
                      first_twiddle, odd_angles(factor)});
    first_twiddle += 2 * (factor - 1) * part;  // the last one has none
    length = part;
  }
  return {transform.points, uploaded(batch, stages), static_cast<int64_t>(stages.size()),
          uploaded(batch, transform.twiddles), uploaded(batch, transform.positions)};
}

const SpectrogramTables* SpectrogramOnDevice::upload(DeviceBatch& batch) const {
  const RealTransform& real = rule_.transform;
  const auto extent = static_cast<int64_t>(rule_.window.size());
  const UploadedArray<SpectrogramTables> tables = batch.upload<SpectrogramTables>(1);
  *tables.host = {upload_transform(batch),
                  real.complex.points,
                  real.is_packed(),
                  rule_.is_amplitude,
                  rule_.time_major,
                  rule_.padding,
                  rule_.padding == SignalPadding::kNone ? 0 : extent / 2,
                  rule_.step,
                  extent,
                  uploaded(batch, rule_.window),
                  uploaded(batch, real.twiddles),
                  uploaded(batch, real.complex.chirp),
                  uploaded(batch, real.complex.filter),
                  real.num_bins(),
                  quick_divisor(factored().points),
                  quick_divisor(real.is_packed() ? real.complex.points / 2 + 1 : real.num_bins()),
                  windows_shift_,
                  pitch_};
  return tables.device;
}

}  // namespace dali_core
