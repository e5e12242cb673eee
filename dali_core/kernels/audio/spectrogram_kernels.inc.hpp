// Spectra of several windows at once, compiled for every instruction set (see simd.hpp), hence
// without guard.
#include "dali_core/kernels/audio/fourier_kernels.inc.hpp"
#include "dali_core/kernels/audio/lanes.inc.hpp"

inline void transform_one_of(const ComplexTransform& transform, float* data) {
  transform_factors(transform, data);
}

// What is needed of an odd size: zeros between the real numbers.
template <typename V>
inline void make_complex(const RealTransform& transform, V* rows) {
  if (transform.is_packed()) return;
  for (int64_t i = transform.size - 1; i >= 0; --i) {
    rows[2 * i] = rows[i];
    rows[2 * i + 1] = V{};
  }
}

// The spectra of signals whose `count` samples are in `data`; the rest of it is filled with zeros.
template <typename V>
inline void spectra_of_rows(const RealTransform& transform, bool is_amplitude, int64_t count,
                            V* data, V* power) {
  for (int64_t i = count; i < transform.size; ++i) data[i] = V{};
  make_complex(transform, data);
  power_of_rows(transform, data, power);
  if (!is_amplitude) return;
  float* const values = reinterpret_cast<float*>(power);
  const int64_t num_values = transform.num_bins() * static_cast<int64_t>(sizeof(V) / sizeof(float));
  for (int64_t i = 0; i < num_values; ++i) values[i] = std::sqrt(values[i]);
}

// The samples of a window that begins at `start`, some of which are outside of the signal.
inline void copy_padded(const float* signal, int64_t length, int64_t start, int64_t extent,
                        SignalPadding padding, float* out) {
  for (int64_t i = 0; i < extent; ++i) {
    int64_t place = start + i;
    if (place < 0 || place >= length) place = padded_place(place, length, padding);
    out[i] = place < 0 ? 0 : signal[place];
  }
}

// Writes the rows of `num_lanes` windows next to each other.
inline void write_columns(const Lanes* rows, int64_t count, int64_t num_lanes, float* out,
                          int64_t row_step) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(out + i * row_step, rows + i, static_cast<size_t>(num_lanes) * sizeof(float));
}

inline void spectrogram_of(const SpectrogramRule& rule, const float* signal, int64_t length,
                           float* out, float* memory) {
  const RealTransform& transform = rule.transform;
  const int64_t num_windows = rule.num_windows(length), num_bins = transform.num_bins();
  const auto extent = static_cast<int64_t>(rule.window.size());
  const int64_t shift = rule.padding == SignalPadding::kNone ? 0 : extent / 2;
  Lanes* const rows = reinterpret_cast<Lanes*>(memory);
  Lanes* const power = rows + transform.num_rows();
  float* const padded = reinterpret_cast<float*>(power + num_bins);
  for (int64_t first = 0; first < num_windows; first += kLanes) {
    const int64_t num_lanes = std::min(kLanes, num_windows - first);
    const float* windows[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const int64_t start = (first + std::min(lane, num_lanes - 1)) * rule.step - shift;
      if (start >= 0 && start + extent <= length) {
        windows[lane] = signal + start;
      } else if (lane < num_lanes) {
        copy_padded(signal, length, start, extent, rule.padding, padded + lane * extent);
        windows[lane] = padded + lane * extent;
      } else {
        windows[lane] = windows[num_lanes - 1];
      }
    }
    gather_lanes(windows, rule.window.data(), extent, rows);
    spectra_of_rows(transform, rule.is_amplitude, extent, rows, power);
    if (rule.time_major)
      scatter_lanes(power, num_bins, num_lanes, out + first * num_bins, num_bins);
    else
      write_columns(power, num_bins, num_lanes, out + first, num_windows);
  }
}

inline void power_spectra_of(const RealTransform& transform, const PowerRows& rows, const float* in,
                             float* out, float* memory) {
  const int64_t num_bins = transform.num_bins();
  const int64_t extent = std::min(rows.length, transform.size);
  if (rows.outer * rows.inner == 1) {
    std::copy_n(in, extent, memory);
    spectra_of_rows(transform, rows.is_amplitude, extent, memory, memory + transform.num_rows());
    std::copy_n(memory + transform.num_rows(), num_bins, out);
    return;
  }
  Lanes* const data = reinterpret_cast<Lanes*>(memory);
  Lanes* const power = data + transform.num_rows();
  if (rows.inner == 1) {
    for (int64_t first = 0; first < rows.outer; first += kLanes) {
      const int64_t num_lanes = std::min(kLanes, rows.outer - first);
      const float* lanes[kLanes];
      for (int64_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = in + (first + std::min(lane, num_lanes - 1)) * rows.length;
      gather_lanes(lanes, nullptr, extent, data);
      spectra_of_rows(transform, rows.is_amplitude, extent, data, power);
      scatter_lanes(power, num_bins, num_lanes, out + first * num_bins, num_bins);
    }
    return;
  }
  for (int64_t outer = 0; outer < rows.outer; ++outer) {
    const float* const from = in + outer * rows.length * rows.inner;
    float* const to = out + outer * num_bins * rows.inner;
    for (int64_t first = 0; first < rows.inner; first += kLanes) {
      const int64_t num_lanes = std::min(kLanes, rows.inner - first);
      for (int64_t i = 0; i < extent; ++i) {
        data[i] = Lanes{};
        std::memcpy(data + i, from + i * rows.inner + first,
                    static_cast<size_t>(num_lanes) * sizeof(float));
      }
      spectra_of_rows(transform, rows.is_amplitude, extent, data, power);
      write_columns(power, num_bins, num_lanes, to + first, rows.inner);
    }
  }
}
