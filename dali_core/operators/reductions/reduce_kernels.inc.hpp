// Inner loops of reductions. No include guard: compiled once for every instruction set.

namespace reductions {

// results[i] = join of the terms of column i of all rows.
template <typename Term, typename Sum, typename From>
inline void join_rows(const From* in, int64_t stride, int64_t num_rows, int64_t width,
                      const Sum* __restrict means, Sum* __restrict sums) {
  const auto term = [means](From value, int64_t i) -> Sum {
    if constexpr (std::is_same_v<Term, DeviationTerm>)
      return Term::of(static_cast<Sum>(value), means[i]);
    else
      return Term::of(static_cast<Sum>(value), Sum(0));
  };
  int64_t row = 0;
  for (; row + 4 <= num_rows; row += 4, in += 4 * stride) {
    const From* row0 = in;
    const From* row1 = in + stride;
    const From* row2 = in + 2 * stride;
    const From* row3 = in + 3 * stride;
    for (int64_t i = 0; i < width; ++i) {
      const Sum first = Term::join(term(row0[i], i), term(row1[i], i));
      const Sum second = Term::join(term(row2[i], i), term(row3[i], i));
      sums[i] = Term::join(sums[i], Term::join(first, second));
    }
  }
  for (; row < num_rows; ++row, in += stride)
    for (int64_t i = 0; i < width; ++i) sums[i] = Term::join(sums[i], term(in[i], i));
}

// Sums of bytes grow in 32 bits for as many rows as are sure not to overflow.
template <typename Term>
inline void add_rows_of_bytes(const uint8_t* in, int64_t stride, int64_t num_rows, int64_t width,
                              uint64_t* __restrict sums) {
  constexpr int64_t kRows = 65536;
  alignas(64) uint32_t narrow[kColumns];
  for (int64_t row = 0; row < num_rows; row += kRows, in += kRows * stride) {
    std::fill_n(narrow, width, 0u);
    const int64_t rows = std::min(kRows, num_rows - row);
    join_rows<Term, uint32_t>(in, stride, rows, width, nullptr, narrow);
    for (int64_t i = 0; i < width; ++i) sums[i] += narrow[i];
  }
}

template <typename Term, typename Sum, typename From>
void join_untyped_rows(const void* input, int64_t stride, int64_t num_rows, int64_t width,
                       const void* means, void* results) {
  const From* const in = static_cast<const From*>(input);
  Sum* const sums = static_cast<Sum*>(results);
  if constexpr (std::is_same_v<Sum, uint64_t> && std::is_same_v<From, uint8_t>)
    add_rows_of_bytes<Term>(in, stride, num_rows, width, sums);
  else
    join_rows<Term>(in, stride, num_rows, width, static_cast<const Sum*>(means), sums);
}

// The last type stands for all that are left: modulo 2^64, int64 is uint64.
template <typename Term, typename Sum, typename First, typename... Others>
inline JoinRows select_type(DataType type) {
  if constexpr (sizeof...(Others) > 0) {
    if (type != data_type_of<First>()) return select_type<Term, Sum, Others...>(type);
  }
  return join_untyped_rows<Term, Sum, First>;
}

template <typename Term>
inline JoinRows select_extreme(DataType type) {
  switch (type) {
    case DataType::kUInt8:
      return join_untyped_rows<Term, uint8_t, uint8_t>;
    case DataType::kInt32:
      return join_untyped_rows<Term, int32_t, int32_t>;
    case DataType::kInt64:
      return join_untyped_rows<Term, int64_t, int64_t>;
    case DataType::kUInt64:
      return join_untyped_rows<Term, uint64_t, uint64_t>;
    case DataType::kFloat:
      return join_untyped_rows<Term, float, float>;
    default:
      return join_untyped_rows<Term, double, double>;
  }
}

inline JoinRows select_loop(Fold fold, DataType sum, DataType type) {
  if (fold == Fold::kMin) return select_extreme<MinTerm>(type);
  if (fold == Fold::kMax) return select_extreme<MaxTerm>(type);
  if (sum == DataType::kUInt64)
    return fold == Fold::kSquares
               ? select_type<SquareTerm, uint64_t, uint8_t, int32_t, uint64_t>(type)
               : select_type<SumTerm, uint64_t, uint8_t, int32_t, uint64_t>(type);
  if (fold == Fold::kSquares) return select_type<SquareTerm, double, uint8_t, float, double>(type);
  if (fold == Fold::kDeviations)
    return select_type<DeviationTerm, double, uint8_t, float, double>(type);
  return select_type<SumTerm, double, uint8_t, float, double>(type);
}

// Takes every `step`-th element.
template <int kStep, typename Bits>
inline void take_every(const void* input, int64_t step, int64_t count, void* output) {
  const Bits* const in = static_cast<const Bits*>(input);
  Bits* const __restrict out = static_cast<Bits*>(output);
  if constexpr (kStep > 0) step = kStep;
  for (int64_t i = 0; i < count; ++i) out[i] = in[i * step];
}

template <typename Bits>
inline TakeTerms select_step(int64_t step) {
  return step == 2   ? take_every<2, Bits>
         : step == 3 ? take_every<3, Bits>
         : step == 4 ? take_every<4, Bits>
                     : take_every<0, Bits>;
}

inline TakeTerms select_gather(int64_t bytes, int64_t step) {
  return bytes == 1   ? select_step<uint8_t>(step)
         : bytes == 4 ? select_step<uint32_t>(step)
                      : select_step<uint64_t>(step);
}

}  // namespace reductions
