// Sums are kept side by side: a block whose rows are short is cut into longer rows, so that as many
// sums as a register has lanes, and more, grow at a time. In the end they are joined pairwise.
//
// Loops exist for the usual types; elements of the others are converted first, row by row, to a
// type that loses nothing of them.
#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "dali_core/convert_elements.hpp"
#include "dali_core/fill_elements.hpp"
#include "dali_core/operators/reductions/reduction_rules.hpp"
#include "dali_core/reduction.hpp"
#include "dali_core/simd.hpp"

namespace dali_core {
namespace {

constexpr int64_t kSumsInRow = 128;  // wanted side by side
constexpr int64_t kColumns = 1024;   // at most, so that sums stay in the cache

// Joins the terms of all rows to the results, column by column. `stride` counts elements; `means`
// are only read for deviations.
using JoinRows = void (*)(const void* in, int64_t stride, int64_t num_rows, int64_t width,
                          const void* means, void* results);

// Takes every `step`-th element.
using TakeTerms = void (*)(const void* in, int64_t step, int64_t count, void* out);

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/operators/reductions/reduce_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// Counts one on in the loops, the innermost first; null at the end, when all count from 0 again.
const char* next_block(const ReductionPlan::Loop* loops, int count, int64_t bytes, int64_t* place,
                       const char* at) {
  for (int i = count - 1; i >= 0; --i) {
    if (++place[i] < loops[i].extent) return at + loops[i].stride * bytes;
    at -= (loops[i].extent - 1) * loops[i].stride * bytes;
    place[i] = 0;
  }
  return nullptr;
}

// How many rows of a block are read as one longer row: if many, whole registers full.
int64_t copies_of_sums(const ReductionPlan& plan) {
  const int64_t wanted = std::min(plan.terms, kSumsInRow / std::min(plan.outputs, kSumsInRow));
  return wanted < 32 ? std::max<int64_t>(1, wanted) : wanted / 32 * 32;
}

class Reduction {
 public:
  // Loops read elements of `read_type`, to which those of `type` are converted, and give results of
  // `sum_type`.
  Reduction(const ReductionPlan& plan, Fold fold, DataType type, DataType read_type,
            DataType sum_type)
      : plan_(plan),
        type_(type),
        read_type_(read_type),
        sum_type_(sum_type),
        join_rows_(DC_SIMD_DISPATCH(reductions::select_loop, fold, sum_type, read_type)),
        join_sums_(DC_SIMD_DISPATCH(reductions::select_loop, fold >= Fold::kMin ? fold : Fold::kSum,
                                    sum_type, sum_type)),
        take_terms_(DC_SIMD_DISPATCH(reductions::select_gather, size_of(read_type), plan.terms)) {}

  // `start` has the bits of the sum of nothing; `mean` has one number for all outputs or one for
  // each, or is null. Results are converted to `out_type`.
  void run(const void* in, uint64_t start, const double* mean, bool one_mean, DataType out_type,
           void* out) {
    const int64_t bytes = size_of(type_);
    const int64_t copies = plan_.runs ? 1 : copies_of_sums(plan_);
    const int64_t columns = std::min(plan_.outputs, copies > 1 ? plan_.outputs : kColumns);
    int64_t kept[kMaxDims] = {};
    int64_t reduced[kMaxDims] = {};
    const char* block = static_cast<const char*>(in);
    for (int64_t first = 0; first < plan_.num_outputs; first += plan_.outputs) {
      for (int64_t column = 0; column < plan_.outputs; column += columns) {
        const int64_t width = std::min(columns, plan_.outputs - column);
        fill_elements(sums_, copies * width, size_of(sum_type_), start);
        if (mean != nullptr)
          for (int64_t i = 0; i < copies * width; ++i)
            means_[i] = mean[one_mean ? 0 : first + column + i % width];
        const char* at = block;
        do {
          if (plan_.runs) {
            join_runs(at + column * plan_.terms * bytes, width);
          } else {
            const int64_t rows = plan_.terms / copies;
            const int64_t row = copies * plan_.outputs;
            join(at + column * bytes, row, rows, copies * width);
            join(at + (column + rows * row) * bytes, row, plan_.terms % copies > 0,
                 plan_.terms % copies * width);
          }
          at = next_block(plan_.reduced, plan_.num_reduced, bytes, reduced, at);
        } while (at != nullptr);
        join_copies(copies, width);
        convert_elements(sums_, sum_type_, element_at(out, out_type, first + column), out_type,
                         width);
      }
      block = next_block(plan_.kept, plan_.num_kept, bytes, kept, block);
    }
  }

 private:
  // Joins rows of elements to the sums.
  void join(const char* in, int64_t stride, int64_t num_rows, int64_t width) {
    if (type_ == read_type_) return join_rows_(in, stride, num_rows, width, means_, sums_);
    for (; num_rows > 0; --num_rows, in += stride * size_of(type_)) {
      convert_elements(in, type_, converted_, read_type_, width);
      join_rows_(converted_, width, 1, width, means_, sums_);
    }
  }

  // Joins runs: first the first terms of all of them, then the second ones.
  void join_runs(const char* in, int64_t count) {
    const int64_t most = kColumns / plan_.terms;
    for (int64_t first = 0; first < count; first += most) {
      const int64_t some = std::min(most, count - first);
      const char* runs = in + first * plan_.terms * size_of(type_);
      if (type_ != read_type_) {
        convert_elements(runs, type_, converted_, read_type_, some * plan_.terms);
        runs = converted_;
      }
      for (int64_t k = 0; k < plan_.terms; ++k) {
        take_terms_(runs + k * size_of(read_type_), plan_.terms, some, taken_);
        join_rows_(taken_, some, 1, some, means_ + first, sums_ + first * size_of(sum_type_));
      }
    }
  }

  // Joins `copies` rows of sums into the first.
  void join_copies(int64_t copies, int64_t width) {
    while (copies > 1) {
      const int64_t upper = (copies + 1) / 2;
      const int64_t count = (copies - upper) * width;
      join_sums_(sums_ + upper * width * size_of(sum_type_), count, 1, count, nullptr, sums_);
      copies = upper;
    }
  }

  const ReductionPlan& plan_;
  DataType type_, read_type_, sum_type_;
  JoinRows join_rows_, join_sums_;
  TakeTerms take_terms_;
  alignas(64) char sums_[kColumns * sizeof(double)];
  alignas(64) double means_[kColumns] = {};
  alignas(64) char converted_[kColumns * sizeof(double)];
  alignas(64) char taken_[kColumns * sizeof(double)];
};

// Bool counts as 0 and 1.
DataType number_type(DataType type) { return type == DataType::kBool ? DataType::kUInt8 : type; }

// The type with loops for integers of `type`.
DataType integer_read_type(DataType type) {
  switch (type) {
    case DataType::kUInt8:
    case DataType::kInt32:
    case DataType::kInt64:
    case DataType::kUInt64:
      return type;
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kUInt16:
      return DataType::kInt32;
    case DataType::kUInt32:
      return DataType::kInt64;
    default:
      throw std::logic_error("this reduction is one of integers");
  }
}

// What every element replaces, as bits of `sum_type`.
uint64_t extreme_start(DataType type, DataType sum_type, bool is_min) {
  return visit_type(type, [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    uint64_t bits = 0;
    if constexpr (!std::is_same_v<T, Half>) {
      using Limits = std::numeric_limits<T>;
      const T start = Limits::has_infinity ? (is_min ? Limits::infinity() : -Limits::infinity())
                      : is_min             ? Limits::max()
                                           : Limits::lowest();
      convert_elements(&start, type, &bits, sum_type, 1);
    }
    return bits;
  });
}

}  // namespace

void reduce_to_integers(const ReductionPlan& plan, Fold fold, const Tensor& input, uint64_t* out) {
  const DataType type = number_type(input.type);
  Reduction(plan, fold, type, integer_read_type(type), DataType::kUInt64)
      .run(input.data, 0, nullptr, true, DataType::kUInt64, out);
}

void reduce_to_doubles(const ReductionPlan& plan, Fold fold, const Tensor& input,
                       const double* mean, bool one_mean, double* out) {
  const DataType type = number_type(input.type);
  const bool is_usual = type == DataType::kUInt8 || type == DataType::kFloat;
  Reduction(plan, fold, type, is_usual ? type : DataType::kFloat64, DataType::kFloat64)
      .run(input.data, 0, fold == Fold::kDeviations ? mean : nullptr, one_mean, DataType::kFloat64,
           out);
}

void reduce_to_extremes(const ReductionPlan& plan, Fold fold, const Tensor& input, void* out) {
  const DataType type = number_type(input.type);
  const bool is_float = type == DataType::kFloat || type == DataType::kFloat64;
  const DataType read_type = is_float ? type : integer_read_type(type);
  Reduction(plan, fold, type, read_type, read_type)
      .run(input.data, extreme_start(type, read_type, fold == Fold::kMin), nullptr, true, type,
           out);
}

}  // namespace dali_core
