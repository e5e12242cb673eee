// Inner loops of fn.normalize, compiled for every instruction set (see simd.hpp), hence without
// guard. Sums have a lane for every element of a short run, a multiple of the period, so their
// order does not depend on the instruction set.

// `kLanes` is the number of lanes if it is known to the compiler, else 0.
template <int kLanes, bool kSquares>
inline void add_to_lanes(const float* in, int64_t count, int64_t lanes, const double* centres,
                         double* sums) {
  if constexpr (kLanes > 0) lanes = kLanes;
  const auto term = [](float value, double centre) {
    const double number = static_cast<double>(value);
    return kSquares ? (number - centre) * (number - centre) : number;
  };
  int64_t i = 0;
  if constexpr (kLanes > 0) {
    double local[kLanes], local_centres[kLanes];
    for (int j = 0; j < kLanes; ++j) {
      local[j] = sums[j];
      local_centres[j] = kSquares ? centres[j] : 0.0;
    }
    for (; i + kLanes <= count; i += kLanes)
      for (int j = 0; j < kLanes; ++j) local[j] += term(in[i + j], local_centres[j]);
    for (int j = 0; j < kLanes; ++j) sums[j] = local[j];
  } else {
    for (; i + lanes <= count; i += lanes)
      for (int64_t j = 0; j < lanes; ++j) sums[j] += term(in[i + j], kSquares ? centres[j] : 0.0);
  }
  for (int64_t j = 0; i + j < count; ++j) sums[j] += term(in[i + j], kSquares ? centres[j] : 0.0);
}

template <bool kSquares>
inline void add_block(const float* in, int64_t count, int64_t lanes, const double* centres,
                      double* sums) {
  if (lanes == 16) return add_to_lanes<16, kSquares>(in, count, lanes, centres, sums);
  if (lanes == 24) return add_to_lanes<24, kSquares>(in, count, lanes, centres, sums);
  add_to_lanes<0, kSquares>(in, count, lanes, centres, sums);
}

// Adds a run to lanes. `centres` is null for plain sums.
inline void add_run(const void* in, DataType type, int64_t first, int64_t count, int64_t lanes,
                    int64_t block_size, const double* centres, double* sums, float* block) {
  for (int64_t done = 0; done < count; done += block_size) {
    const int64_t length = count - done < block_size ? count - done : block_size;
    const float* values = as_floats(in, type, first + done, length, block);
    if (centres)
      add_block<true>(values, length, lanes, centres, sums);
    else
      add_block<false>(values, length, lanes, centres, sums);
  }
}

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
