// Inner loops of all reductions. No include guard: compiled once for every instruction set.

namespace reductions {

// results[i] = join of the terms of column i of four rows.
template <typename Term, typename Sum, typename From>
inline void join_four(const From* row0, const From* row1, const From* row2, const From* row3,
                      int64_t width, const Sum* __restrict means, Sum* __restrict sums) {
  for (int64_t i = 0; i < width; ++i) {
    const Sum mean = mean_at<Term>(means, i);
    if constexpr (Term::kPairwise) {
      const Sum first = Term::join(term_of<Term>(row0[i], mean), term_of<Term>(row1[i], mean));
      const Sum second = Term::join(term_of<Term>(row2[i], mean), term_of<Term>(row3[i], mean));
      sums[i] = Term::join(sums[i], Term::join(first, second));
    } else {
      Sum sum = Term::join(sums[i], term_of<Term>(row0[i], mean));
      sum = Term::join(sum, term_of<Term>(row1[i], mean));
      sum = Term::join(sum, term_of<Term>(row2[i], mean));
      sums[i] = Term::join(sum, term_of<Term>(row3[i], mean));
    }
  }
}

template <typename Term, typename Sum, typename From>
inline void join_one(const From* in, int64_t width, const Sum* __restrict means,
                     Sum* __restrict sums) {
  for (int64_t i = 0; i < width; ++i)
    sums[i] = Term::join(sums[i], term_of<Term>(in[i], mean_at<Term>(means, i)));
}

// Four rows at a time, if terms may be joined with each other.
template <typename Term, typename Sum, typename From>
inline void join_rows(const From* in, int64_t stride, int64_t num_rows, int64_t width,
                      const Sum* means, Sum* sums) {
  if constexpr (Term::kPairwise) {
    for (; num_rows >= 4; num_rows -= 4, in += 4 * stride)
      join_four<Term>(in, in + stride, in + 2 * stride, in + 3 * stride, width, means, sums);
    for (; num_rows > 0; --num_rows, in += stride) join_one<Term>(in, width, means, sums);
  } else {
    for (; num_rows > 1; num_rows -= 4, in += 4 * stride) {
      // Where fewer are left, the last of them again changes nothing.
      const From* const second = in + stride;
      const From* const third = num_rows > 2 ? second + stride : second;
      const From* const fourth = num_rows > 3 ? third + stride : third;
      join_four<Term>(in, second, third, fourth, width, means, sums);
    }
    if (num_rows == 1) join_one<Term>(in, width, means, sums);
  }
}

// Sums of numbers of 8 or 16 bits grow in 32 bits for as many rows as are sure not to overflow.
template <typename Term, typename From>
inline void add_small_rows(const From* in, int64_t stride, int64_t num_rows, int64_t width,
                           uint64_t* __restrict sums) {
  using Narrow = std::conditional_t<std::is_signed_v<From>, int32_t, uint32_t>;
  constexpr int64_t kRows = 65536;
  alignas(64) Narrow narrow[kColumns];
  for (int64_t row = 0; row < num_rows; row += kRows, in += kRows * stride) {
    std::memset(narrow, 0, static_cast<size_t>(width) * sizeof(Narrow));
    const int64_t rows = std::min(kRows, num_rows - row);
    join_rows<Term, Narrow>(in, stride, rows, width, nullptr, narrow);
    for (int64_t i = 0; i < width; ++i)
      sums[i] += static_cast<uint64_t>(static_cast<int64_t>(narrow[i]));
  }
}

template <typename Term, typename Sum, typename From>
void join_untyped_rows(const void* input, int64_t stride, int64_t num_rows, int64_t width,
                       const void* untyped_means, void* results) {
  const From* const in = static_cast<const From*>(input);
  Sum* const sums = static_cast<Sum*>(results);
  const Sum* const means = static_cast<const Sum*>(untyped_means);
  constexpr bool is_small = sizeof(From) <= (std::is_same_v<Term, SquareTerm> ? 1 : 2);
  if constexpr (std::is_same_v<Sum, uint64_t> && is_small)
    add_small_rows<Term>(in, stride, num_rows, width, sums);
  else
    join_rows<Term>(in, stride, num_rows, width, means, sums);
}

template <typename Term, typename Sum>
void join_untyped_results(const void* untyped_others, int64_t count, void* results) {
  const Sum* const __restrict others = static_cast<const Sum*>(untyped_others);
  Sum* const __restrict sums = static_cast<Sum*>(results);
  for (int64_t i = 0; i < count; ++i) sums[i] = Term::join(sums[i], others[i]);
}

template <typename Term, typename Sum>
void join_untyped_copies(void* results, int64_t copies, int64_t width) {
  Sum* const sums = static_cast<Sum*>(results);
  while (copies > 1) {
    const int64_t lower = (copies + 1) / 2;
    join_untyped_results<Term, Sum>(sums + lower * width, (copies - lower) * width, sums);
    copies = lower;
  }
}

// results[i] = join of the terms of run i. `kTerms` of 0: as many as `terms` says.
template <int kTerms, typename Term, typename Sum, typename From>
void join_untyped_runs(const void* input, int64_t terms, int64_t count, const void* untyped_means,
                       void* results) {
  const From* const __restrict in = static_cast<const From*>(input);
  const Sum* const __restrict means = static_cast<const Sum*>(untyped_means);
  Sum* const __restrict sums = static_cast<Sum*>(results);
  if constexpr (kTerms > 0) terms = kTerms;
  for (int64_t i = 0; i < count; ++i) {
    const Sum mean = mean_at<Term>(means, i);
    constexpr bool replaces = std::is_same_v<Term, MaskedMaxTerm>;
    Sum sum = replaces ? term_of<Term>(in[i * terms], mean) : sums[i];
    for (int64_t k = replaces ? 1 : 0; k < terms; ++k)
      sum = Term::join(sum, term_of<Term>(in[i * terms + k], mean));
    sums[i] = replaces ? term_of<Term>(sum, mean) : sum;
  }
}

// The same, where terms are joined one after the other: four runs at a time, since each waits for
// its own numbers.
template <typename Term, typename Sum, typename From>
void join_four_runs(const void* input, int64_t terms, int64_t count, const void* untyped_means,
                    void* results) {
  const From* in = static_cast<const From*>(input);
  const Sum* const means = static_cast<const Sum*>(untyped_means);
  Sum* const sums = static_cast<Sum*>(results);
  int64_t run = 0;
  for (; run + 4 <= count; run += 4, in += 4 * terms) {
    Sum first = sums[run], second = sums[run + 1], third = sums[run + 2], fourth = sums[run + 3];
    const Sum mean1 = mean_at<Term>(means, run), mean2 = mean_at<Term>(means, run + 1);
    const Sum mean3 = mean_at<Term>(means, run + 2), mean4 = mean_at<Term>(means, run + 3);
    for (int64_t k = 0; k < terms; ++k) {
      first = Term::join(first, term_of<Term>(in[k], mean1));
      second = Term::join(second, term_of<Term>(in[k + terms], mean2));
      third = Term::join(third, term_of<Term>(in[k + 2 * terms], mean3));
      fourth = Term::join(fourth, term_of<Term>(in[k + 3 * terms], mean4));
    }
    sums[run] = first;
    sums[run + 1] = second;
    sums[run + 2] = third;
    sums[run + 3] = fourth;
  }
  join_untyped_runs<0, Term, Sum, From>(in, terms, count - run,
                                        means == nullptr ? nullptr : means + run, sums + run);
}

}  // namespace reductions
