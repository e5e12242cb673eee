// Distribution of the spectra of a batch over the thread blocks of a device.
#pragma once

#include <cstdint>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/audio/spectrogram.hpp"
#include "dali_core/kernels/audio/spectrogram_task.hpp"

namespace dali_core {

class SpectrogramOnDevice {
 public:
  // For `num_signals` signals of `most_windows` windows at most, which are above 0.
  SpectrogramOnDevice(const SpectrogramRule& rule, int64_t most_windows, int num_signals);

  const SpectrogramTables* upload(DeviceBatch& batch) const;

  // Memory on the device for a signal's windows; null if they are in shared memory.
  float* memory_for(DeviceBatch& batch, int64_t num_windows) const;

  const char* kernel() const { return is_shared_ ? "compute_spectra" : "compute_long_spectra"; }
  int64_t num_blocks() const { return num_blocks_; }  // for the longest signal
  unsigned shared_bytes() const;

 private:
  // The transform that is carried out by factors.
  const ComplexTransform& factored() const {
    const ComplexTransform& complex = rule_.transform.complex;
    return complex.convolution ? *complex.convolution : complex;
  }
  FourierTables upload_transform(DeviceBatch& batch) const;

  const SpectrogramRule& rule_;
  int64_t pitch_;
  int32_t windows_shift_ = 0;
  bool is_shared_;
  int64_t num_blocks_;
};

}  // namespace dali_core
