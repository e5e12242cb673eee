// Transforms of rows of lanes, compiled for every instruction set (see simd.hpp), hence without
// guard. `V` is a vector of floats, one for each signal, or a float.

typedef float Lanes __attribute__((vector_size(DC_SIMD_BYTES), may_alias));
constexpr int64_t kLanes = DC_SIMD_BYTES / 4;

// Of a transform of `factor` points, an odd number: cosines and sines of its angles.
struct OddAngles {
  explicit OddAngles(int factor) {
    for (int i = 0; i < factor; ++i) {
      const double angle = 2 * 3.14159265358979323846 * i / factor;
      cosine[i] = static_cast<float>(std::cos(angle));
      sine[i] = static_cast<float>(std::sin(angle));
    }
  }
  float cosine[13], sine[13];
};

template <int kFactor, typename V>
inline void butterfly(V* re, V* im) {
  if constexpr (kFactor == 2) {
    const V r = re[0], i = im[0];
    re[0] = r + re[1];
    im[0] = i + im[1];
    re[1] = r - re[1];
    im[1] = i - im[1];
  } else if constexpr (kFactor == 4) {
    const V r0 = re[0] + re[2], i0 = im[0] + im[2], r2 = re[0] - re[2], i2 = im[0] - im[2];
    const V r1 = re[1] + re[3], i1 = im[1] + im[3], r3 = re[1] - re[3], i3 = im[1] - im[3];
    re[0] = r0 + r1;
    im[0] = i0 + i1;
    re[1] = r2 + i3;
    im[1] = i2 - r3;
    re[2] = r0 - r1;
    im[2] = i0 - i1;
    re[3] = r2 - i3;
    im[3] = i2 + r3;
  } else {
    static const OddAngles angles(kFactor);
    constexpr int kHalf = kFactor / 2;
    V sum_re[kHalf], sum_im[kHalf], difference_re[kHalf], difference_im[kHalf];
    const V first_re = re[0], first_im = im[0];
    for (int q = 0; q < kHalf; ++q) {
      const int other = kFactor - 1 - q;
      sum_re[q] = re[q + 1] + re[other];
      sum_im[q] = im[q + 1] + im[other];
      difference_re[q] = re[q + 1] - re[other];
      difference_im[q] = im[q + 1] - im[other];
      re[0] += sum_re[q];
      im[0] += sum_im[q];
    }
    for (int p = 1; p <= kHalf; ++p) {
      V even_re = first_re, even_im = first_im;
      V odd_re = difference_re[0] * angles.sine[p], odd_im = difference_im[0] * angles.sine[p];
      for (int q = 0; q < kHalf; ++q) {
        const int angle = p * (q + 1) % kFactor;
        even_re += sum_re[q] * angles.cosine[angle];
        even_im += sum_im[q] * angles.cosine[angle];
        if (q > 0) {
          odd_re += difference_re[q] * angles.sine[angle];
          odd_im += difference_im[q] * angles.sine[angle];
        }
      }
      re[p] = even_re + odd_im;
      im[p] = even_im - odd_re;
      re[kFactor - p] = even_re - odd_im;
      im[kFactor - p] = even_im + odd_re;
    }
  }
}

// One factor: blocks of `length` points become `kFactor` blocks each. Gives the twiddles after.
template <int kFactor, typename V>
inline const float* split_blocks(V* data, int64_t points, int64_t length, const float* twiddles) {
  const int64_t part = length / kFactor;
  const float* twiddle = twiddles;
  for (int64_t first = 0; first < points; first += length) {
    V* row = data + 2 * first;
    twiddle = twiddles;
    for (int64_t i = 0; i < part; ++i, row += 2) {
      V re[kFactor], im[kFactor];
      for (int k = 0; k < kFactor; ++k) {
        re[k] = row[2 * k * part];
        im[k] = row[2 * k * part + 1];
      }
      butterfly<kFactor>(re, im);
      row[0] = re[0];
      row[1] = im[0];
      for (int k = 1; k < kFactor; ++k) {
        V* const target = row + 2 * k * part;
        if (part > 1) {
          const float cosine = twiddle[0], sine = twiddle[1];
          twiddle += 2;
          target[0] = re[k] * cosine - im[k] * sine;
          target[1] = re[k] * sine + im[k] * cosine;
        } else {
          target[0] = re[k];
          target[1] = im[k];
        }
      }
    }
  }
  return twiddle;
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
  const V product = row[0] * re - row[1] * im;
  row[1] = row[0] * im + row[1] * re;
  row[0] = product;
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
  const V first_re = data[0] + data[1], first_im = data[0] - data[1];
  power[0] = first_re * first_re;
  power[half] = first_im * first_im;
  for (int64_t i = 1; i <= half / 2; ++i) {
    const V* const a = frequency_row(complex, data, i);
    const V* const b = frequency_row(complex, data, half - i);
    const V even_re = a[0] + b[0], even_im = a[1] - b[1];
    const V odd_re = a[1] + b[1], odd_im = b[0] - a[0];
    const float cosine = transform.twiddles[static_cast<size_t>(2 * i)];
    const float sine = transform.twiddles[static_cast<size_t>(2 * i + 1)];
    const V turned_re = odd_re * cosine - odd_im * sine;
    const V turned_im = odd_re * sine + odd_im * cosine;
    const V sum_re = even_re + turned_re, sum_im = even_im + turned_im;
    const V difference_re = even_re - turned_re, difference_im = even_im - turned_im;
    power[i] = (sum_re * sum_re + sum_im * sum_im) * 0.25f;
    power[half - i] = (difference_re * difference_re + difference_im * difference_im) * 0.25f;
  }
}
