// The inner loops of reductions, by type and instruction set. Sums and extremes are compiled apart.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dali_core/data_type.hpp"
#include "dali_core/kernels/reduction/reduction.hpp"
#include "dali_core/kernels/reduction/reduction_rules.hpp"

namespace dali_core {

constexpr int64_t kColumns = 1024;  // contiguous sums, at most, so that they stay in the cache

// Joins the terms of all rows to the results, column by column. `stride` counts elements. `means`
// has one number for each column, and is read for deviations alone.
using JoinRows = void (*)(const void* in, int64_t stride, int64_t num_rows, int64_t width,
                          const void* means, void* results);

// Joins the terms of runs to the results, one for each run. `means` is a mask for extremes; those
// of integers replace the results, and there is at least one term.
using JoinRuns = void (*)(const void* in, int64_t terms, int64_t count, const void* means,
                          void* results);

// Joins results to others.
using JoinResults = void (*)(const void* others, int64_t count, void* results);

// Brings the terms of `count` runs into rows.
using SeparateRuns = void (*)(const void* in, int64_t terms, int64_t count, void* out);

// Joins rows of results into the first: always the upper half to the lower one.
using JoinCopies = void (*)(void* results, int64_t copies, int64_t width);

struct ReductionLoops {
  JoinRows rows;
  JoinResults results;
  JoinCopies copies;
  JoinRuns runs;          // null for types whose runs are separated
  SeparateRuns separate;  // null where `runs` is not
  DataType compared;      // as what the elements of runs are compared, for extremes
  bool replaces = false;  // whether `runs` replaces the results
};

// Sums modulo 2^64 of integers; `terms` is the length of runs.
ReductionLoops loops_of_integers(Fold fold, DataType type, int64_t terms);

// Sums in double precision of UINT8, FLOAT, FLOAT64.
ReductionLoops loops_of_doubles(Fold fold, DataType type, int64_t terms);

// Extremes. Elements of runs of integers are combined with a mask by exclusive or, and compared as
// `compared`; the highest one, combined with the mask again, is the result.
ReductionLoops loops_of_extremes(Fold fold, DataType type, int64_t terms);

// The number that goes into the term of each element, beside the element.
template <typename Term, typename Sum>
inline Sum mean_at(const Sum* means, int64_t i) {
  if constexpr (std::is_same_v<Term, DeviationTerm>)
    return means[i];
  else if constexpr (std::is_same_v<Term, MaskedMaxTerm>)
    return means[0];
  else
    return 0;
}

template <typename Term, typename Sum, typename From>
inline Sum term_of(From value, Sum mean) {
  // Processors multiply 32 bits faster than 64.
  using Product = std::conditional_t<std::is_signed_v<From>, int32_t, uint32_t>;
  if constexpr (std::is_same_v<Term, SquareTerm> && std::is_same_v<Sum, uint64_t> &&
                sizeof(From) == 2)
    return static_cast<Sum>(Term::of(static_cast<Product>(value), Product(0)));
  else
    return Term::of(static_cast<Sum>(value), mean);
}

}  // namespace dali_core
