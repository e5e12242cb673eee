// Inner loop of fn.normalize, compiled for every instruction set (see simd.hpp), hence without
// guard.

inline void normalize_run(const void* in, DataType in_type, void* out, DataType out_type,
                          int64_t first, int64_t count, int64_t lanes, int64_t block_size,
                          const float* means, const float* multipliers, float shift, float* block) {
  for (int64_t done = 0; done < count; done += block_size) {
    const int64_t length = count - done < block_size ? count - done : block_size;
    const float* values = as_floats(in, in_type, first + done, length, block);
    float* const to =
        out_type == DataType::kFloat ? static_cast<float*>(out) + first + done : block;
    int64_t i = 0;
    for (; i + lanes <= length; i += lanes)
      for (int64_t j = 0; j < lanes; ++j)
        to[i + j] = normalized(values[i + j], means[j], multipliers[j], shift);
    for (int64_t j = 0; i + j < length; ++j)
      to[i + j] = normalized(values[i + j], means[j], multipliers[j], shift);
    if (out_type == DataType::kFloat) continue;
    convert_from_floats(block, element_at(out, out_type, first + done), out_type, length);
  }
}
