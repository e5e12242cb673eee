// Transforms of rows of lanes, compiled for every instruction set (see simd.hpp), hence without
// guard. `V` is a vector of floats, one for each signal, or a float.

typedef float Lanes __attribute__((vector_size(DC_SIMD_BYTES), may_alias));
constexpr int64_t kLanes = DC_SIMD_BYTES / 4;

#include "dali_core/kernels/audio/butterflies.inc.hpp"

// One factor: blocks of `length` points become `kFactor` blocks each. Gives the twiddles after.
template <int kFactor, typename V>
inline const float* split_blocks(V* data, int64_t points, int64_t length, const float* twiddles) {
  const int64_t part = length / kFactor;
  const OddAngles& angles = odd_angles(kFactor);
  for (int64_t first = 0; first < points; first += length) {
    V* row = data + 2 * first;
    const float* twiddle = twiddles;
    for (int64_t i = 0; i < part; ++i, row += 2, twiddle += 2 * (kFactor - 1))
      split_points<kFactor>(row, 2 * part, part > 1 ? twiddle : nullptr, angles);
  }
  return twiddles + (part > 1 ? 2 * (kFactor - 1) * part : 0);
}

template <typename V>
inline void transform_factors(const ComplexTransform& transform, V* data) {
  int64_t length = transform.points;
  const float* twiddles = transform.twiddles.data();
  for (const int factor : transform.factors) {
    switch (factor) {
      case 2:
        twiddles = split_blocks<2>(data, transform.points, length, twiddles);
        break;
      case 3:
        twiddles = split_blocks<3>(data, transform.points, length, twiddles);
        break;
      case 4:
        twiddles = split_blocks<4>(data, transform.points, length, twiddles);
        break;
      case 5:
        twiddles = split_blocks<5>(data, transform.points, length, twiddles);
        break;
      case 7:
        twiddles = split_blocks<7>(data, transform.points, length, twiddles);
        break;
      case 11:
        twiddles = split_blocks<11>(data, transform.points, length, twiddles);
        break;
      default:
        twiddles = split_blocks<13>(data, transform.points, length, twiddles);
        break;
    }
    length /= factor;
  }
}

template <typename V>
inline void multiply_complex(V* row, float re, float im) {
  store_product(row[0], row[1], re, im, row);
}

// Leaves frequency `k` at `data[2 * k]`.
template <typename V>
inline void transform_by_convolution(const ComplexTransform& transform, V* data) {
  const ComplexTransform& inner = *transform.convolution;
  const int64_t points = transform.points;
  V* const padded = data + 2 * inner.points;
  V* const result = padded + 2 * inner.points;
  const float* const chirp = transform.chirp.data();
  for (int64_t i = 0; i < points; ++i) {
    padded[2 * i] = data[2 * i];
    padded[2 * i + 1] = data[2 * i + 1];
    multiply_complex(padded + 2 * i, chirp[2 * i], chirp[2 * i + 1]);
  }
  for (int64_t i = 2 * points; i < 2 * inner.points; ++i) padded[i] = V{};
  transform_factors(inner, padded);
  // The inverse transform is the transform of the conjugate, conjugated.
  for (int64_t i = 0; i < inner.points; ++i) {
    V* const row = padded + inner.positions[static_cast<size_t>(i)];
    const float* const filter =
        &transform.filter[static_cast<size_t>(inner.positions[static_cast<size_t>(i)])];
    multiply_complex(row, filter[0], filter[1]);
    result[2 * i] = row[0];
    result[2 * i + 1] = -row[1];
  }
  transform_factors(inner, result);
  for (int64_t i = 0; i < points; ++i) {
    const V* const row = result + inner.positions[static_cast<size_t>(i)];
    data[2 * i] = row[0];
    data[2 * i + 1] = -row[1];
    multiply_complex(data + 2 * i, chirp[2 * i], chirp[2 * i + 1]);
  }
}

template <typename V>
inline const V* frequency_row(const ComplexTransform& transform, const V* data, int64_t frequency) {
  return data + (transform.convolution ? 2 * frequency
                                       : transform.positions[static_cast<size_t>(frequency)]);
}

template <typename V>
inline void transform_rows(const ComplexTransform& transform, V* data) {
  if (transform.convolution)
    transform_by_convolution(transform, data);
  else
    transform_factors(transform, data);
}

// Writes the squared magnitudes of all frequencies to rows of `power`.
template <typename V>
inline void power_of_rows(const RealTransform& transform, V* data, V* power) {
  const ComplexTransform& complex = transform.complex;
  transform_rows(complex, data);
  if (!transform.is_packed()) {
    for (int64_t i = 0; i < transform.num_bins(); ++i) {
      const V* const row = frequency_row(complex, data, i);
      power[i] = row[0] * row[0] + row[1] * row[1];
    }
    return;
  }
  const int64_t half = complex.points;
  powers_of_ends(data, power, power + half);
  for (int64_t i = 1; i <= half / 2; ++i)
    powers_of_pair(frequency_row(complex, data, i), frequency_row(complex, data, half - i),
                   transform.twiddles[static_cast<size_t>(2 * i)],
                   transform.twiddles[static_cast<size_t>(2 * i + 1)], power + i, power + half - i);
}
