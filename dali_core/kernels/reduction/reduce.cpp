// Sums are contiguous: a block whose rows are short is cut into longer rows, so that as many sums
// as a register has lanes, and more, grow at a time. Where the order matters, it is that of
// reduction.hpp.
//
// Means of rare types have no loops of their own: their elements are converted first.
#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/reduction/reduce_loops.hpp"
#include "dali_core/kernels/reduction/reduction.hpp"

namespace dali_core {
namespace {

constexpr int64_t kSumsInRow = 128;           // contiguous, wanted
constexpr int64_t kUnorderedSumsInRow = 256;  // the same
// Elements at a time of what is not read as it is, or four rows of as many as there is room for.
constexpr int64_t kConverted = 1024;
constexpr int64_t kConvertedBytes = 16384;

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

// How many rows of a block are read as one longer row where the order of terms does not matter.
int64_t copies_of_sums(const ReductionPlan& plan, int64_t sum_bytes) {
  if (plan.runs) return 1;
  const int64_t few = std::min(plan.terms, kSumsInRow / std::min(plan.outputs, kSumsInRow));
  const int64_t many =
      std::min(plan.terms / 8, kUnorderedSumsInRow / std::min(plan.outputs, kUnorderedSumsInRow));
  // Sums of eight bytes fill rows anyway.
  const int64_t wanted = sum_bytes == 8 ? few : std::max(few, many);
  return wanted < 32 ? std::max<int64_t>(1, wanted) : wanted / 32 * 32;
}

// Sets bytes to those of a number of eight bytes, again and again.
void fill_bytes(char* bytes, int64_t count, uint64_t number) {
  if (number == 0) {
    std::memset(bytes, 0, static_cast<size_t>(count));
    return;
  }
  int64_t filled = std::min<int64_t>(count, sizeof number);
  std::memcpy(bytes, &number, static_cast<size_t>(filled));
  while (filled < count) {
    const int64_t more = std::min(filled, count - filled);
    std::memcpy(bytes + filled, bytes, static_cast<size_t>(more));
    filled += more;
  }
}

class Reduction {
 public:
  // Loops read elements of `read_type`, to which those of `type` are converted, and give results of
  // `sum_type`. The mask is that of loops that compare what is combined with one.
  Reduction(const ReductionPlan& plan, const ReductionLoops& loops, DataType type,
            DataType read_type, DataType sum_type, uint64_t mask = 0)
      : plan_(plan), loops_(loops), type_(type), read_type_(read_type), sum_type_(sum_type) {
    std::memcpy(means_, &mask, sizeof mask);
  }

  // `start` has the bits of the sum of nothing, as often as there is room for; `mean` has one
  // number for all outputs or one for each, or is null.
  void run(const void* in, uint64_t start, const double* mean, bool one_mean, void* out) {
    const int64_t bytes = size_of(type_);
    const int64_t sum_bytes = size_of(sum_type_);
    // Of equal zeros the first counts, whatever its sign.
    const bool is_ordered = sum_type_ == DataType::kFloat || sum_type_ == DataType::kFloat64;
    copies_ = is_ordered ? plan_.lanes : copies_of_sums(plan_, sum_bytes);
    num_chunks_ = is_ordered ? plan_.num_chunks() : 1;
    const int64_t columns =
        copies_ > 1
            ? plan_.outputs
            : std::min(plan_.outputs,
                       type_ == read_type_ ? kColumns : kConvertedBytes / 4 / size_of(read_type_));
    fill_bytes(starts_, copies_ * columns * sum_bytes, start);
    int64_t kept[kMaxDims] = {};
    const char* block = static_cast<const char*>(in);
    for (int64_t first = 0; first < plan_.num_outputs; first += plan_.outputs) {
      for (int64_t column = 0; column < plan_.outputs; column += columns) {
        const int64_t width = std::min(columns, plan_.outputs - column);
        char* const results = static_cast<char*>(out) + (first + column) * sum_bytes;
        if (mean != nullptr)
          for (int64_t copy = 0; copy < copies_; ++copy)
            for (int64_t i = 0; i < width; ++i)
              means_[copy * width + i] = mean[one_mean ? 0 : first + column + i];
        join_segments(block + column * (plan_.runs ? plan_.terms : 1) * bytes, width, results);
      }
      block = next_block(plan_.kept, plan_.num_kept, bytes, kept, block);
    }
  }

 private:
  // Joins all terms of some outputs of a block.
  void join_segments(const char* at, int64_t width, char* results) {
    int64_t reduced[kMaxDims] = {};
    const int64_t sum_bytes = size_of(sum_type_);
    // What has one lane grows where it is to be, but for chunks beyond the first of each lane.
    const auto sums_of = [&](int64_t chunk) -> char* {
      if (copies_ > 1 || chunk >= kChunkLanes) return sums_;
      return num_chunks_ == 1 ? results : totals_ + chunk * width * sum_bytes;
    };
    // A segment has chunks of its own, or is part of one.
    const bool is_cut = num_chunks_ > 1 && plan_.segment_chunks > 1;
    const int64_t terms = is_cut ? kChunkRows * copies_ : plan_.terms;
    const int64_t most = num_chunks_ == 1 ? plan_.segments : plan_.chunk_segments;
    int64_t chunk = 0, segments = 0;
    char* sums = sums_of(chunk);
    do {
      int64_t first = 0;
      do {
        const bool replaces = plan_.runs && loops_.replaces && plan_.terms > 0;
        if (segments == 0 && !replaces)
          std::memcpy(sums, starts_, static_cast<size_t>(copies_ * width * sum_bytes));
        if (replaces)
          join_replacing(at, width, segments == 0, sums);
        else if (plan_.runs && plan_.terms > 0)
          join_runs(at, width, sums);
        else
          join_block(at, first, std::min(terms, plan_.terms - first), width, sums);
        first += terms;
        if (++segments < most) continue;
        close_chunk(chunk, width, sums, results);
        sums = sums_of(++chunk);
        segments = 0;
      } while (first < plan_.terms);
      at = next_block(plan_.reduced, plan_.num_reduced, size_of(type_), reduced, at);
    } while (at != nullptr);
    if (segments > 0) close_chunk(chunk, width, sums, results);
    if (num_chunks_ > 1) {
      loops_.copies(totals_, std::min(num_chunks_, kChunkLanes), width);
      std::memcpy(results, totals_, static_cast<size_t>(width * sum_bytes));
    }
  }

  void close_chunk(int64_t chunk, int64_t width, char* sums, char* results) {
    loops_.copies(sums, copies_, width);
    const int64_t bytes = width * size_of(sum_type_);
    char* const total = num_chunks_ == 1 ? results : totals_ + chunk % kChunkLanes * bytes;
    if (chunk >= kChunkLanes)
      loops_.results(sums, width, total);
    else if (sums != total)
      std::memcpy(total, sums, static_cast<size_t>(bytes));
  }

  // Joins terms of a block, `first` and those behind.
  void join_block(const char* block, int64_t first, int64_t terms, int64_t width, char* sums) {
    const int64_t bytes = size_of(type_);
    const char* const at = block + first * plan_.outputs * bytes;
    const int64_t rows = terms / copies_;
    const int64_t row = copies_ * plan_.outputs;
    const int64_t rest = terms % copies_;
    join(at, row, rows, copies_ * width, sums);
    if (rest > 0) join(at + rows * row * bytes, row, 1, rest * width, sums);
  }

  // Joins rows of elements to the sums.
  void join(const char* in, int64_t stride, int64_t num_rows, int64_t width, void* sums) {
    if (type_ == read_type_) return loops_.rows(in, stride, num_rows, width, means_, sums);
    const int64_t most =
        std::max<int64_t>(kConverted / width / 4 * 4, 4);  // four are added to each other first
    for (int64_t row = 0; row < num_rows; row += most) {
      const int64_t rows = std::min(most, num_rows - row);
      if (stride == width) {
        convert_elements(element_at(in, type_, row * stride), type_, converted_, read_type_,
                         rows * width);
      } else {
        for (int64_t i = 0; i < rows; ++i)
          convert_elements(element_at(in, type_, (row + i) * stride), type_,
                           converted_ + i * width * size_of(read_type_), read_type_, width);
      }
      loops_.rows(converted_, width, rows, width, means_, sums);
    }
  }

  // Joins runs by loops that replace results.
  void join_replacing(const char* in, int64_t count, bool first, char* results) {
    loops_.runs(in, plan_.terms, count, means_, first ? results : separated_);
    if (!first) loops_.results(separated_, count, results);
  }

  // Joins runs. Those of most types become rows, so that the first terms of all are joined, then
  // the second ones.
  void join_runs(const char* in, int64_t count, char* results) {
    const int64_t terms = plan_.terms;
    const bool is_direct = loops_.runs != nullptr;
    if (is_direct && type_ == read_type_) return loops_.runs(in, terms, count, means_, results);
    int64_t most = kConverted / terms;
    if (most > kSumsInRow) most = most / kSumsInRow * kSumsInRow;  // whole registers full
    for (int64_t first = 0; first < count; first += most) {
      const int64_t some = std::min(most, count - first);
      const double* const means = means_ + first;
      char* const sums = results + first * size_of(sum_type_);
      const void* runs = element_at(in, type_, first * terms);
      if (type_ != read_type_) {
        convert_elements(runs, type_, converted_, read_type_, some * terms);
        runs = converted_;
      }
      if (is_direct) {
        loops_.runs(runs, terms, some, means, sums);
      } else {
        loops_.separate(runs, terms, some, separated_);
        loops_.rows(separated_, some, terms, some, means, sums);
      }
    }
  }

  const ReductionPlan& plan_;
  const ReductionLoops loops_;
  const DataType type_, read_type_, sum_type_;
  int64_t copies_ = 1;  // of the sums of a block
  int64_t num_chunks_ = 1;
  alignas(64) char starts_[kColumns * sizeof(double)];  // what sums begin with
  alignas(64) char sums_[kColumns * sizeof(double)];
  alignas(64) char totals_[kChunkLanes * kColumns * sizeof(double)];  // of chunks
  alignas(64) double means_[kColumns];  // of deviations; of runs' extremes, the mask
  alignas(64) char converted_[kConvertedBytes];
  alignas(64) char separated_[kConverted * sizeof(double)];
};

// Bool counts as 0 and 1.
DataType number_type(DataType type) { return type == DataType::kBool ? DataType::kUInt8 : type; }

// The type with loops for sums in double precision of elements of `type`, which loses nothing.
DataType read_type_of_double(DataType type) {
  switch (type) {
    case DataType::kUInt8:
    case DataType::kFloat:
      return type;
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kUInt16:
    case DataType::kFloat16:
      return DataType::kFloat;
    default:
      return DataType::kFloat64;
  }
}

// What numbers are combined with so that the highest one, compared as another type of the same
// size, is the extreme. As many copies as there is room for.
uint64_t mask_of(DataType type, DataType compared, bool is_min) {
  return visit_type(type, [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      using Bits = std::conditional_t<
          sizeof(T) == 1, uint8_t,
          std::conditional_t<sizeof(T) == 2, uint16_t,
                             std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
      constexpr uint64_t kEach = ~uint64_t{0} / std::numeric_limits<Bits>::max();
      const uint64_t sign = kEach << (8 * sizeof(T) - 1);
      return (is_min ? ~uint64_t{0} : 0) ^ (compared == type ? 0 : sign);
    }
    return 0;
  });
}

// What every element replaces, as bits of the type, as often as there is room for.
uint64_t extreme_start(DataType type, bool is_min) {
  return visit_type(type, [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    uint64_t bits = 0;
    if constexpr (!std::is_same_v<T, Half>) {
      using Limits = std::numeric_limits<T>;
      const T start = Limits::has_infinity ? (is_min ? Limits::infinity() : -Limits::infinity())
                      : is_min             ? Limits::max()
                                           : Limits::lowest();
      for (size_t i = 0; i < sizeof bits; i += sizeof start)
        std::memcpy(reinterpret_cast<char*>(&bits) + i, &start, sizeof start);
    }
    return bits;
  });
}

}  // namespace

void reduce_to_integers(const ReductionPlan& plan, Fold fold, const Tensor& input, uint64_t* out) {
  const DataType type = number_type(input.type);
  Reduction(plan, loops_of_integers(fold, type, plan.terms), type, type, DataType::kUInt64)
      .run(input.data, 0, nullptr, true, out);
}

void reduce_to_doubles(const ReductionPlan& plan, Fold fold, const Tensor& input,
                       const double* mean, bool one_mean, double* out) {
  const DataType type = number_type(input.type);
  const DataType read = read_type_of_double(type);
  Reduction(plan, loops_of_doubles(fold, read, plan.terms), type, read, DataType::kFloat64)
      .run(input.data, 0, fold == Fold::kDeviations ? mean : nullptr, one_mean, out);
}

void reduce_to_extremes(const ReductionPlan& plan, Fold fold, const Tensor& input, void* out) {
  const DataType type = number_type(input.type);
  if (type == DataType::kFloat16) throw std::logic_error("no extremes are found in FLOAT16");
  const bool is_min = fold == Fold::kMin;
  const ReductionLoops loops = loops_of_extremes(fold, type, plan.terms);
  const uint64_t mask = plan.runs ? mask_of(type, loops.compared, is_min) : 0;
  Reduction(plan, loops, type, type, type, mask)
      .run(input.data, extreme_start(type, is_min), nullptr, true, out);
}

}  // namespace dali_core
