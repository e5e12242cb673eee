// Power spectra of windows of a signal, and of rows of a tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "dali_core/kernels/audio/fourier.hpp"
#include "dali_core/kernels/audio/spectrogram_task.hpp"

namespace dali_core {

struct SpectrogramRule {
  RealTransform transform;
  std::vector<float> window;
  int64_t step;
  SignalPadding padding;  // kNone: all windows are within the signal
  bool is_amplitude;      // the root of the power
  bool time_major;

  // Of a signal of `length` samples; negative if it is too short for one.
  int64_t num_windows(int64_t length) const;

  // Floats of working memory.
  int64_t num_floats() const;
};

// Writes spectra of shape (bins, windows), or (windows, bins) if it is time major. `memory` is
// aligned to a cache line.
void compute_spectrogram(const SpectrogramRule& rule, const float* signal, int64_t length,
                         float* out, float* memory);

// Where the rows of a tensor are, along one of its dimensions: `outer` times `inner` rows, whose
// elements are `inner` apart.
struct PowerRows {
  int64_t outer, inner;
  int64_t length;  // of a row; what is beyond the size of the transform is ignored
  bool is_amplitude;
};

// Floats of working memory.
int64_t num_floats(const RealTransform& transform, const PowerRows& rows);

void compute_power_spectra(const RealTransform& transform, const PowerRows& rows, const float* in,
                           float* out, float* memory);

// Samples of a Hann window between those that are 0.
std::vector<float> hann_window(int64_t length);

}  // namespace dali_core
