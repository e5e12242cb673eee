// Inner loops of convolution. No include guard: compiled once for every instruction set.

namespace convolution {

typedef float FloatVector __attribute__((vector_size(DC_SIMD_BYTES)));
constexpr int kLanes = DC_SIMD_BYTES / 4;

// Sums stay in registers while all rows go by.
template <int kVectors, typename T>
inline void weigh_block(const T* const* rows, const float* weights, int64_t num_rows, int64_t at,
                        float* out) {
  FloatVector sum[kVectors] = {};
  for (int64_t k = 0; k < num_rows; ++k) {
    alignas(DC_SIMD_BYTES) float converted[kVectors * kLanes];
    const float* values = converted;
    if constexpr (std::is_same_v<T, float>)
      values = rows[k] + at;
    else
      for (int i = 0; i < kVectors * kLanes; ++i)
        converted[i] = static_cast<float>(rows[k][at + i]);
    const FloatVector weight = FloatVector{} + weights[k];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      FloatVector value;
      __builtin_memcpy(&value, values + v * kLanes, sizeof value);
      sum[v] += value * weight;
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v)
    __builtin_memcpy(out + at + v * kLanes, &sum[v], sizeof sum[v]);
}

template <typename T>
inline void weigh(const T* const* rows, const float* weights, int64_t num_rows, int64_t count,
                  float* out) {
  int64_t at = 0;
  for (; at + 8 * kLanes <= count; at += 8 * kLanes)
    weigh_block<8>(rows, weights, num_rows, at, out);
  if (at + 4 * kLanes <= count) {
    weigh_block<4>(rows, weights, num_rows, at, out);
    at += 4 * kLanes;
  }
  for (; at + kLanes <= count; at += kLanes) weigh_block<1>(rows, weights, num_rows, at, out);
  if (at < count && count >= kLanes)
    return weigh_block<1>(rows, weights, num_rows, count - kLanes, out);
  for (; at < count; ++at) {
    float sum = 0;
    for (int64_t k = 0; k < num_rows; ++k) sum += static_cast<float>(rows[k][at]) * weights[k];
    out[at] = sum;
  }
}

// Two sums at a time, which share most rows: those of the second are `shift` places further on.
template <int kVectors>
inline void weigh_two_blocks(const float* const* rows, const float* weights, int64_t num_rows,
                             int64_t shift, int64_t at, float* first_out, float* second_out) {
  FloatVector first[kVectors] = {};
  FloatVector second[kVectors] = {};
  const auto add = [&](FloatVector* sum, int64_t row, int64_t weight) {
    const FloatVector factor = FloatVector{} + weights[weight];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      FloatVector value;
      __builtin_memcpy(&value, rows[row] + at + v * kLanes, sizeof value);
      sum[v] += value * factor;
    }
  };
  for (int64_t k = 0; k < shift; ++k) add(first, k, k);
  for (int64_t k = shift; k < num_rows; ++k) {
    const FloatVector first_factor = FloatVector{} + weights[k];
    const FloatVector second_factor = FloatVector{} + weights[k - shift];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      FloatVector value;
      __builtin_memcpy(&value, rows[k] + at + v * kLanes, sizeof value);
#if DC_SIMD_X86
      __asm__("" : "+x"(value));  // else compilers load it again for the second product
#endif
      first[v] += value * first_factor;
      second[v] += value * second_factor;
    }
  }
  for (int64_t k = num_rows; k < num_rows + shift; ++k) add(second, k, k - shift);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    __builtin_memcpy(first_out + at + v * kLanes, &first[v], sizeof first[v]);
    __builtin_memcpy(second_out + at + v * kLanes, &second[v], sizeof second[v]);
  }
}

inline void weigh_rows_twice(const float* const* rows, const float* weights, int64_t num_rows,
                             int64_t shift, int64_t count, float* first, float* second) {
  const int64_t whole = count / (4 * kLanes) * (4 * kLanes);
  for (int64_t at = 0; at < whole; at += 4 * kLanes)
    weigh_two_blocks<4>(rows, weights, num_rows, shift, at, first, second);
  for (int64_t at = whole; at + kLanes <= count; at += kLanes)
    weigh_two_blocks<1>(rows, weights, num_rows, shift, at, first, second);
  const int64_t rest = count % kLanes;
  if (rest == 0) return;
  if (count >= kLanes)
    return weigh_two_blocks<1>(rows, weights, num_rows, shift, count - kLanes, first, second);
  weigh(rows, weights, num_rows, count, first);
  weigh(rows + shift, weights, num_rows, count, second);
}

inline void weigh_rows(const float* const* rows, const float* weights, int64_t num_rows,
                       int64_t count, float* out) {
  weigh(rows, weights, num_rows, count, out);
}

// Rows of all but the usual types are converted block by block.
inline void weigh_converted_rows(const void* const* rows, DataType type, const float* weights,
                                 int64_t num_rows, int64_t count, float* out) {
  alignas(64) float block[kConvertedBlock];
  for (int64_t at = 0; at < count; at += kConvertedBlock) {
    const int64_t some = std::min(kConvertedBlock, count - at);
    float* __restrict const sums = out + at;
    std::fill_n(sums, some, 0.0f);
    for (int64_t k = 0; k < num_rows; ++k) {
      convert_to_floats(element_at(rows[k], type, at), type, block, some);
      for (int64_t i = 0; i < some; ++i) sums[i] += block[i] * weights[k];
    }
  }
}

inline void weigh_typed_rows(const void* const* rows, DataType type, const float* weights,
                             int64_t num_rows, int64_t count, float* out) {
  if (type == DataType::kUInt8)
    weigh(reinterpret_cast<const uint8_t* const*>(rows), weights, num_rows, count, out);
  else if (type == DataType::kFloat)
    weigh(reinterpret_cast<const float* const*>(rows), weights, num_rows, count, out);
  else
    weigh_converted_rows(rows, type, weights, num_rows, count, out);
}

// Rounds half to even in the type of 8 or 16 bits that `out` has.
template <typename To>
inline void store_whole(const float* row, int64_t count, To* out) {
  constexpr int64_t kBlock = 256;
  alignas(64) float block[kBlock];
  int32_t bits[kBlock];
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t some = std::min(kBlock, count - at);
    for (int64_t i = 0; i < some; ++i) block[i] = whole_in_last_bits<To>(row[at + i]);
    __builtin_memcpy(bits, block, sizeof bits);
    for (int64_t i = 0; i < some; ++i) out[at + i] = static_cast<To>(bits[i]);
  }
}

inline void store_row_to_even(const float* row, int64_t count, void* out, DataType type) {
  switch (type) {
    case DataType::kUInt8:
      return store_whole(row, count, static_cast<uint8_t*>(out));
    case DataType::kInt8:
      return store_whole(row, count, static_cast<int8_t*>(out));
    case DataType::kUInt16:
      return store_whole(row, count, static_cast<uint16_t*>(out));
    case DataType::kInt16:
      return store_whole(row, count, static_cast<int16_t*>(out));
    case DataType::kFloat16:
    case DataType::kFloat:
    case DataType::kFloat64:
      return convert_from_floats(row, out, type, count);
    default:
      break;
  }
  alignas(64) float block[kConvertedBlock];
  for (int64_t at = 0; at < count; at += kConvertedBlock) {
    const int64_t some = std::min(kConvertedBlock, count - at);
    for (int64_t i = 0; i < some; ++i) block[i] = round_half_to_even(row[at + i]);
    convert_from_floats(block, element_at(out, type, at), type, some);
  }
}

inline const ConvolutionKernels& kernel_table() {
  static const ConvolutionKernels table = {weigh_rows, weigh_rows_twice, weigh_typed_rows,
                                           load_row,   store_row,        store_row_to_even};
  return table;
}

}  // namespace convolution
