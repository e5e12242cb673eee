// Conversion loops, compiled for every instruction set (see simd.hpp), hence without guard. All
// levels give the same bits as convert() does.

template <typename To, typename From>
inline void convert_run(const void* input, void* output, int64_t count) {
  const From* const in = static_cast<const From*>(input);
  To* const __restrict out = static_cast<To*>(output);
  int64_t i = 0;
#if DC_SIMD_BYTES >= 64
  // GCC warns of undefined elements where there is no mask.
  constexpr __mmask16 kAll = 0xffff;
  if constexpr (std::is_same_v<To, Half>) {
    for (; i + 16 <= count; i += 16)
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(out + i),
          _mm512_maskz_cvtps_ph(kAll, _mm512_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  } else if constexpr (std::is_same_v<From, Half>) {
    for (; i + 16 <= count; i += 16)
      _mm512_storeu_ps(out + i,
                       _mm512_maskz_cvtph_ps(
                           kAll, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i))));
  }
#endif
#if DC_SIMD_BYTES >= 32
  if constexpr (std::is_same_v<To, Half>) {
    for (; i + 8 <= count; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  } else if constexpr (std::is_same_v<From, Half>) {
    for (; i + 8 <= count; i += 8)
      _mm256_storeu_ps(out + i,
                       _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
#endif
  for (; i < count; ++i) out[i] = convert<To>(in[i]);
}

template <typename From>
inline ConvertRun convert_to_narrow(DataType to) {
  switch (to) {
    case DataType::kUInt8:
      return convert_run<uint8_t, From>;
    case DataType::kUInt16:
      return convert_run<uint16_t, From>;
    case DataType::kInt8:
      return convert_run<int8_t, From>;
    case DataType::kInt16:
      return convert_run<int16_t, From>;
    case DataType::kBool:
      return convert_run<bool, From>;
    default:
      return nullptr;
  }
}

template <typename From>
inline ConvertRun convert_from(DataType to) {
  switch (to) {
    case DataType::kUInt32:
      return convert_run<uint32_t, From>;
    case DataType::kUInt64:
      return convert_run<uint64_t, From>;
    case DataType::kInt32:
      return convert_run<int32_t, From>;
    case DataType::kInt64:
      return convert_run<int64_t, From>;
    case DataType::kFloat:
      return convert_run<float, From>;
    case DataType::kFloat64:
      return convert_run<double, From>;
    default:
      return convert_to_narrow<From>(to);
  }
}

// The loop that converts in one step, or null.
inline ConvertRun find_run(DataType from, DataType to) {
  switch (from) {
    case DataType::kUInt8:
      return convert_from<uint8_t>(to);
    case DataType::kUInt16:
      return to == DataType::kInt32   ? convert_run<int32_t, uint16_t>
             : to == DataType::kFloat ? convert_run<float, uint16_t>
                                      : convert_to_narrow<uint16_t>(to);
    case DataType::kUInt32:
      return to == DataType::kInt64     ? convert_run<int64_t, uint32_t>
             : to == DataType::kFloat64 ? convert_run<double, uint32_t>
                                        : convert_to_narrow<uint32_t>(to);
    case DataType::kUInt64:
      return convert_from<uint64_t>(to);
    case DataType::kInt8:
      return to == DataType::kInt32 ? convert_run<int32_t, int8_t> : convert_to_narrow<int8_t>(to);
    case DataType::kInt16:
      return to == DataType::kInt32   ? convert_run<int32_t, int16_t>
             : to == DataType::kFloat ? convert_run<float, int16_t>
                                      : convert_to_narrow<int16_t>(to);
    case DataType::kInt32:
      return convert_from<int32_t>(to);
    case DataType::kInt64:
      return convert_from<int64_t>(to);
    case DataType::kFloat16:
      return to == DataType::kFloat ? convert_run<float, Half> : nullptr;
    case DataType::kFloat:
      return to == DataType::kFloat16 ? convert_run<Half, float> : convert_from<float>(to);
    default:
      return convert_from<double>(to);
  }
}
