// Inner loops of reductions. No include guard: compiled once for every instruction set.
//
// Sums are kept side by side: a block whose rows are short is cut into longer rows, so that as many
// sums as a register has lanes, and more, grow at a time. In the end they are joined pairwise.

#include "dali_core/convert_run.inc.hpp"

namespace reductions {

constexpr int64_t kSumsInRow = 128;  // wanted side by side
constexpr int64_t kColumns = 1024;   // at most, so that sums stay in the cache

// sums[i] = join of the terms of column i of all rows.
template <typename Term, typename Sum, typename From>
inline void add_rows(const From* in, int64_t stride, int64_t num_rows, int64_t width,
                     const Sum* __restrict mean, Sum* __restrict sums) {
  const auto term = [](From value, Sum m) -> Sum {
    // Processors multiply 32 bits faster than 64.
    using Product = std::conditional_t<std::is_signed_v<From>, int32_t, uint32_t>;
    if constexpr (std::is_same_v<Term, SquareTerm> && std::is_same_v<Sum, uint64_t> &&
                  sizeof(From) == 2)
      return static_cast<Sum>(Term::of(static_cast<Product>(value), Product(0)));
    else
      return Term::of(static_cast<Sum>(value), m);
  };
  int64_t row = 0;
  for (; row + 4 <= num_rows; row += 4, in += 4 * stride) {
    const From* row0 = in;
    const From* row1 = in + stride;
    const From* row2 = in + 2 * stride;
    const From* row3 = in + 3 * stride;
    for (int64_t i = 0; i < width; ++i) {
      const Sum m = mean[i];
      const Sum first = Term::join(term(row0[i], m), term(row1[i], m));
      const Sum second = Term::join(term(row2[i], m), term(row3[i], m));
      sums[i] = Term::join(sums[i], Term::join(first, second));
    }
  }
  for (; row < num_rows; ++row, in += stride)
    for (int64_t i = 0; i < width; ++i) sums[i] = Term::join(sums[i], term(in[i], mean[i]));
}

// sums[i] = join of the terms of run i.
template <int kTerms, typename Term, typename Sum, typename From>
inline void add_runs_of(const From* __restrict in, int64_t dynamic_terms, int64_t count,
                        const Sum* __restrict mean, Sum* __restrict sums) {
  const int64_t terms = kTerms ? kTerms : dynamic_terms;
  for (int64_t i = 0; i < count; ++i) {
    Sum sum = sums[i];
    for (int64_t k = 0; k < terms; ++k)
      sum = Term::join(sum, Term::of(static_cast<Sum>(in[i * terms + k]), mean[i]));
    sums[i] = sum;
  }
}

template <typename Term, typename Sum, typename From>
inline void add_runs(const From* in, int64_t terms, int64_t count, const Sum* mean, Sum* sums) {
  if (terms == 2) return add_runs_of<2, Term>(in, terms, count, mean, sums);
  if (terms == 3) return add_runs_of<3, Term>(in, terms, count, mean, sums);
  if (terms == 4) return add_runs_of<4, Term>(in, terms, count, mean, sums);
  add_runs_of<0, Term>(in, terms, count, mean, sums);
}

// Sums of 8-bit and 16-bit numbers grow in 32 bits for as many rows as are sure not to overflow.
template <typename Narrow, typename Term, typename From>
inline void add_rows_narrow(const From* in, int64_t stride, int64_t num_rows, int64_t width,
                            Narrow* narrow, uint64_t* sums) {
  constexpr int64_t kRows = 65536;
  static const Narrow no_mean[kColumns] = {};
  for (int64_t row = 0; row < num_rows; row += kRows, in += kRows * stride) {
    std::fill_n(narrow, width, Narrow(0));
    const int64_t rows = std::min(kRows, num_rows - row);
    add_rows<Term>(in, stride, rows, width, no_mean, narrow);
    for (int64_t i = 0; i < width; ++i)
      sums[i] += static_cast<uint64_t>(static_cast<int64_t>(narrow[i]));
  }
}

// Joins `copies` rows of sums into the first.
template <typename Term, typename Sum>
inline void join_copies(Sum* sums, int64_t copies, int64_t width) {
  while (copies > 1) {
    const int64_t upper = (copies + 1) / 2;
    for (int64_t i = 0; i < (copies - upper) * width; ++i)
      sums[i] = Term::join(sums[i], sums[upper * width + i]);
    copies = upper;
  }
}

// How elements of one type enter sums of another; `From` is what is read.
template <typename Term, typename Sum, typename From>
struct Adder {
  static void rows(const From* in, int64_t stride, int64_t num_rows, int64_t width, const Sum* mean,
                   Sum* sums) {
    constexpr bool is_small = sizeof(From) <= (std::is_same_v<Term, SquareTerm> ? 1 : 2);
    if constexpr (std::is_same_v<Sum, uint64_t> && is_small) {
      using Narrow = std::conditional_t<std::is_signed_v<From>, int32_t, uint32_t>;
      alignas(64) Narrow narrow[kColumns];
      add_rows_narrow<Narrow, Term>(in, stride, num_rows, width, narrow, sums);
    } else {
      add_rows<Term>(in, stride, num_rows, width, mean, sums);
    }
  }

  static void runs(const From* in, int64_t terms, int64_t count, const Sum* mean, Sum* sums) {
    add_runs<Term>(in, terms, count, mean, sums);
  }
};

// Elements that are converted first, row by row: rare types, of which loops are not to be many.
template <typename Term, typename Sum, typename From>
struct ConvertingAdder {
  static void rows(const From* in, int64_t stride, int64_t num_rows, int64_t width, const Sum* mean,
                   Sum* sums) {
    alignas(64) Sum row[kColumns];
    for (; num_rows > 0; --num_rows, in += stride) {
      convert_run(in, row, width);
      add_rows<Term>(row, width, 1, width, mean, sums);
    }
  }

  static void runs(const From* in, int64_t terms, int64_t count, const Sum* mean, Sum* sums) {
    alignas(64) Sum block[kColumns];
    const int64_t outputs = kColumns / terms;
    for (int64_t i = 0; i < count; i += outputs, in += outputs * terms) {
      const int64_t some = std::min(outputs, count - i);
      convert_run(in, block, some * terms);
      add_runs<Term>(block, terms, some, mean + i, sums + i);
    }
  }
};

// How many rows of a block are read as one longer row: if many, whole registers full.
inline int64_t copies_of_sums(const ReductionPlan& plan) {
  const int64_t wanted = std::min(plan.terms, kSumsInRow / std::min(plan.outputs, kSumsInRow));
  return wanted < 32 ? std::max<int64_t>(1, wanted) : wanted / 32 * 32;
}

// All of a tensor: `start` is the sum of nothing, `mean(output)` the mean of an output.
template <typename Term, typename Add, typename Sum, typename From, typename Mean>
inline void reduce(const ReductionPlan& plan, const From* in, Sum start, Mean mean, Sum* out) {
  alignas(64) Sum sums[kColumns];
  alignas(64) Sum means[kColumns];
  const int64_t copies = plan.runs ? 1 : copies_of_sums(plan);
  const int64_t columns = std::min(plan.outputs, copies > 1 ? plan.outputs : kColumns);
  std::fill_n(means, kColumns, Sum(0));
  int64_t kept[kMaxDims] = {};
  int64_t reduced[kMaxDims] = {};
  const From* block = in;
  for (int64_t first = 0; first < plan.num_outputs; first += plan.outputs) {
    for (int64_t column = 0; column < plan.outputs; column += columns) {
      const int64_t width = std::min(columns, plan.outputs - column);
      std::fill_n(sums, copies * width, start);
      if constexpr (std::is_same_v<Term, DeviationTerm>)
        for (int64_t i = 0; i < width; ++i)
          for (int64_t copy = 0; copy < copies; ++copy)
            means[copy * width + i] = mean(first + column + i);
      const From* at = block;
      do {
        if (plan.runs) {
          Add::runs(at + column * plan.terms, plan.terms, width, means, sums);
        } else {
          const int64_t rows = plan.terms / copies;
          const int64_t row = copies * plan.outputs;
          Add::rows(at + column, row, rows, copies * width, means, sums);
          Add::rows(at + column + rows * row, row, plan.terms % copies > 0,
                    plan.terms % copies * width, means, sums);
        }
        at = next_block(plan.reduced, plan.num_reduced, reduced, at);
      } while (at != nullptr);
      join_copies<Term>(sums, copies, width);
      std::copy_n(sums, width, out + first + column);
    }
    block = next_block(plan.kept, plan.num_kept, kept, block);
  }
}

template <typename Term>
inline void reduce_integers(const ReductionPlan& plan, const void* in, DataType type,
                            uint64_t* out) {
  const auto reduce_type = [&](auto zero) {
    using From = decltype(zero);
    reduce<Term, Adder<Term, uint64_t, From>>(
        plan, static_cast<const From*>(in), uint64_t(0), [](int64_t) { return uint64_t(0); }, out);
  };
  visit_integer_type(type, reduce_type);
}

template <typename Term>
inline void reduce_doubles(const ReductionPlan& plan, const void* in, DataType type,
                           const double* mean, bool one_mean, double* out) {
  const auto mean_of = [&](int64_t i) {
    return mean == nullptr ? 0.0 : one_mean ? mean[0] : mean[i];
  };
  visit_type(type, [&](auto zero) {
    using From = decltype(zero);
    constexpr bool is_usual = std::is_same_v<From, float> || std::is_same_v<From, double> ||
                              std::is_same_v<From, uint8_t>;
    using Add = std::conditional_t<is_usual, Adder<Term, double, From>,
                                   ConvertingAdder<Term, double, From>>;
    reduce<Term, Add>(plan, static_cast<const From*>(in), 0.0, mean_of, out);
  });
}

template <typename Term, typename T>
inline void reduce_extremes_of(const ReductionPlan& plan, const void* in, void* out) {
  constexpr bool is_min = std::is_same_v<Term, MinTerm>;
  using Limits = std::numeric_limits<T>;
  const T start = Limits::has_infinity ? (is_min ? Limits::infinity() : -Limits::infinity())
                  : is_min             ? Limits::max()
                                       : Limits::lowest();
  reduce<Term, Adder<Term, T, T>>(
      plan, static_cast<const T*>(in), start, [](int64_t) { return T(0); }, static_cast<T*>(out));
}

template <typename Term>
inline void reduce_extremes(const ReductionPlan& plan, const void* in, DataType type, void* out) {
  if (type == DataType::kFloat) return reduce_extremes_of<Term, float>(plan, in, out);
  if (type == DataType::kFloat64) return reduce_extremes_of<Term, double>(plan, in, out);
  visit_integer_type(type,
                     [&](auto zero) { reduce_extremes_of<Term, decltype(zero)>(plan, in, out); });
}

}  // namespace reductions
