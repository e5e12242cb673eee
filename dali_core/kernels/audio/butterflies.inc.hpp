// Arithmetic of transforms, which host loops include for every instruction set (see simd.hpp) and
// device kernels once, hence without guard. `V` is a vector of floats, one for each signal, or a
// float. Rows hold real and imaginary parts in turn.

// A product of complex numbers.
template <typename V>
DC_HOST_DEV void store_product(const V& re, const V& im, float other_re, float other_im, V* row) {
  const V product_re = re * other_re - im * other_im;
  const V product_im = re * other_im + im * other_re;
  row[0] = product_re;
  row[1] = product_im;
}

template <int kFactor, typename V>
DC_HOST_DEV void butterfly(V* re, V* im, const OddAngles& angles) {
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

// One butterfly of points whose rows are `step` apart. After it, points are multiplied by the
// twiddles, if there are any.
template <int kFactor, typename V>
DC_HOST_DEV void split_points(V* row, int64_t step, const float* twiddles,
                              const OddAngles& angles) {
  V re[kFactor], im[kFactor];
  for (int k = 0; k < kFactor; ++k) {
    re[k] = row[k * step];
    im[k] = row[k * step + 1];
  }
  butterfly<kFactor>(re, im, angles);
  row[0] = re[0];
  row[1] = im[0];
  for (int k = 1; k < kFactor; ++k) {
    V* const target = row + k * step;
    if (twiddles != nullptr) {
      store_product(re[k], im[k], twiddles[2 * k - 2], twiddles[2 * k - 1], target);
    } else {
      target[0] = re[k];
      target[1] = im[k];
    }
  }
}

// Of real signals whose samples are real and imaginary parts in turn: the power at frequency 0 and
// at half the sampling rate, from the row of frequency 0.
template <typename V>
DC_HOST_DEV void powers_of_ends(const V* row, V* first, V* last) {
  const V sum = row[0] + row[1], difference = row[0] - row[1];
  *first = sum * sum;
  *last = difference * difference;
}

// The same at two frequencies that are equally far from the ends, from the rows of both.
template <typename V>
DC_HOST_DEV void powers_of_pair(const V* a, const V* b, float cosine, float sine, V* low, V* high) {
  const V even_re = a[0] + b[0], even_im = a[1] - b[1];
  const V odd_re = a[1] + b[1], odd_im = b[0] - a[0];
  V turned[2];
  store_product(odd_re, odd_im, cosine, sine, turned);
  const V sum_re = even_re + turned[0], sum_im = even_im + turned[1];
  const V difference_re = even_re - turned[0], difference_im = even_im - turned[1];
  *low = (sum_re * sum_re + sum_im * sum_im) * 0.25f;
  *high = (difference_re * difference_re + difference_im * difference_im) * 0.25f;
}
