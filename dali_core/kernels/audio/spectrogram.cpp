#include "dali_core/kernels/audio/spectrogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/audio/spectrogram_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// A multiple of a cache line.
int64_t rounded_up(int64_t floats) { return (floats + 15) / 16 * 16; }

}  // namespace

int64_t SpectrogramRule::num_windows(int64_t length) const {
  if (padding != SignalPadding::kNone) return length / step + 1;
  const auto extent = static_cast<int64_t>(window.size());
  return length < extent ? -1 : (length - extent) / step + 1;
}

int64_t SpectrogramRule::num_floats() const {
  return kMostFourierLanes * (transform.num_rows() + transform.num_bins() +
                              rounded_up(static_cast<int64_t>(window.size())));
}

void compute_spectrogram(const SpectrogramRule& rule, const float* signal, int64_t length,
                         float* out, float* memory) {
  DC_SIMD_DISPATCH(spectrogram_of, rule, signal, length, out, memory);
}

int64_t num_floats(const RealTransform& transform, const PowerRows& rows) {
  const int64_t lanes = rows.outer * rows.inner == 1 ? 1 : kMostFourierLanes;
  return lanes * (transform.num_rows() + transform.num_bins());
}

// A single signal has one instruction set for all machines: where there are instructions that add
// and subtract products in one step, GCC uses them for the complex products of numbers, but not of
// vectors, in spite of -ffp-contract=off, and the bits differ.
void compute_power_spectra(const RealTransform& transform, const PowerRows& rows, const float* in,
                           float* out, float* memory) {
  if (rows.outer * rows.inner == 1)
    simd_baseline::power_spectra_of(transform, rows, in, out, memory);
  else
    DC_SIMD_DISPATCH(power_spectra_of, transform, rows, in, out, memory);
}

void transform_one(const ComplexTransform& transform, float* data) {
  simd_baseline::transform_one_of(transform, data);
}

std::vector<float> hann_window(int64_t length) {
  std::vector<float> window(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(length);
    window[static_cast<size_t>(i)] =
        static_cast<float>(0.5 * (1 - std::cos(2 * 3.14159265358979323846 * place)));
  }
  return window;
}

}  // namespace dali_core
