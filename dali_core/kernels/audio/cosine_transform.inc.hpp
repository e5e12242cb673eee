// Products of a matrix with signals, compiled for every instruction set (see simd.hpp), hence
// without guard. The order of a sum is that of the signal.

inline void multiply_signals(const float* matrix, int64_t num_rows, int64_t count, int64_t outer,
                             int64_t inner, const float* in, float* out) {
  constexpr int64_t kBlock = 512;
  for (int64_t o = 0; o < outer; ++o, in += count * inner)
    for (int64_t row = 0; row < num_rows; ++row, out += inner) {
      const float* const factors = matrix + row * count;
      for (int64_t first = 0; first < inner; first += kBlock) {
        const int64_t length = std::min(kBlock, inner - first);
        float* const __restrict sums = out + first;
        for (int64_t i = 0; i < length; ++i) sums[i] = 0;
        for (int64_t n = 0; n < count; ++n) {
          const float* const numbers = in + n * inner + first;
          for (int64_t i = 0; i < length; ++i) sums[i] += factors[n] * numbers[i];
        }
      }
    }
}
