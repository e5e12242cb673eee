// Parameters of the kernels of fn.spectrogram for one signal. The arithmetic is that of
// butterflies.inc.hpp.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"
#include "dali_core/kernels/audio/fourier_tables.hpp"

namespace dali_core {

// What is outside of the signal.
enum class SignalPadding { kNone, kZeros, kReflected };

// Where a sample outside of a signal of `length` samples is; negative if it is 0.
DC_HOST_DEV int64_t padded_place(int64_t place, int64_t length, SignalPadding padding) {
  if (padding == SignalPadding::kZeros) return -1;
  const int64_t period = length > 1 ? 2 * (length - 1) : 1;
  place = ((place % period) + period) % period;
  return place < length ? place : period - place;
}

// Windows that a block has at most, and the shared memory for them; a window that takes more than
// the latter is transformed in other memory.
constexpr int64_t kMostWindows = 32;
constexpr int64_t kWindowBytes = 24 << 10;
constexpr int64_t kLongestWindowBytes = 48 << 10;
constexpr unsigned kSpectrumThreads = 256;

// What all signals of a batch have in common.
struct SpectrogramTables {
  FourierTables transform;  // or that of a convolution
  int64_t points;           // of the complex transform
  bool is_packed;           // samples are real and imaginary parts in turn
  bool is_amplitude;
  bool time_major;
  SignalPadding padding;
  int64_t shift;  // of windows to the left
  int64_t step;
  int64_t extent;  // of the window
  const float* window;
  const float* twiddles;  // of the real transform
  const float* chirp;     // null: no convolution
  const float* filter;
  int64_t num_bins;
  QuickDivisor loaded_points;
  QuickDivisor pairs;  // of bins, or bins
  // A block has this many windows, and their points begin this many floats apart.
  int32_t windows_shift;  // a power of two
  int64_t pitch;
};

struct SpectrogramTask {
  const SpectrogramTables* tables;
  const float* signal;
  float* out;
  float* memory;  // of all blocks, for windows that are too long for shared memory
  int64_t length;
  int64_t num_windows;
};

}  // namespace dali_core
