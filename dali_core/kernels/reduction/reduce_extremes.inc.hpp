// Loops that look for extremes. No include guard: compiled once for every instruction set.
#include "dali_core/kernels/reduction/reduce_kernels.inc.hpp"

namespace reductions {

// results[i] = the extreme of run i, each run in blocks of so many terms as are compared at once.
// The last block ends with the run: terms that it shares with the one before change nothing.
template <typename Term, typename T>
void join_long_runs(const void* input, int64_t terms, int64_t count, const void* mask,
                    void* results) {
  constexpr int64_t kLanes = (sizeof(T) < 4 ? 16 : 32) / sizeof(T);
  constexpr int64_t kRuns = 64;
  if (terms < kLanes) return join_untyped_runs<0, Term, T, T>(input, terms, count, mask, results);
  static const T no_mask = 0;
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(results);
  const T each = mean_at<Term>(static_cast<const T*>(mask), 0);
  alignas(64) T lanes[kRuns * kLanes];
  alignas(64) T fewer_lanes[kRuns * 4];
  for (int64_t first = 0; first < count; first += kRuns, out += kRuns) {
    const int64_t runs = std::min(kRuns, count - first);
    for (int64_t run = 0; run < runs; ++run, in += terms) {
      T* const joined = lanes + run * kLanes;
      for (int64_t i = 0; i < kLanes; ++i) joined[i] = term_of<Term>(in[i], each);
      for (int64_t k = kLanes; k < terms; k += kLanes) {
        const T* const block = in + std::min(k, terms - kLanes);
        for (int64_t i = 0; i < kLanes; ++i)
          joined[i] = Term::join(joined[i], term_of<Term>(block[i], each));
      }
    }
    const T* left = lanes;
    if constexpr (kLanes > 4) {
      constexpr int64_t kFewer = kLanes / 4;
      join_untyped_runs<4, Term, T, T>(lanes, 4, runs * kFewer, &no_mask, fewer_lanes);
      left = fewer_lanes;
    }
    constexpr int kLeft = kLanes > 4 ? kLanes / 4 : kLanes;
    join_untyped_runs<kLeft, Term, T, T>(left, kLeft, runs, &no_mask, out);
    for (int64_t run = 0; run < runs; ++run) out[run] = term_of<Term>(out[run], each);
  }
}

template <typename Term, typename T>
constexpr JoinRuns join_many() {
  if constexpr (std::is_floating_point_v<T>)
    return &join_four_runs<Term, T, T>;  // of equal zeros the first counts, whatever its sign
  else
    return &join_long_runs<Term, T>;
}

template <typename Term, typename T>
inline JoinRuns select_runs(int64_t terms) {
  return terms == 2   ? &join_untyped_runs<2, Term, T, T>
         : terms == 3 ? &join_untyped_runs<3, Term, T, T>
         : terms == 4 ? &join_untyped_runs<4, Term, T, T>
                      : join_many<Term, T>();
}

// Integers of one size are compared as one type: that for which the code is shortest.
#if DC_SIMD_BYTES >= 32
using Compared2 = uint16_t;
using Compared4 = uint32_t;
#else
using Compared2 = int16_t;
using Compared4 = int32_t;
#endif
template <typename T>
using Compared = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, Compared2,
                                          std::conditional_t<sizeof(T) == 4, Compared4, int64_t>>>>;

template <typename Term, typename T>
inline ReductionLoops select_loops(int64_t terms) {
  ReductionLoops loops{&join_untyped_rows<Term, T, T>,
                       &join_untyped_results<Term, T>,
                       &join_untyped_copies<Term, T>,
                       nullptr,
                       nullptr,
                       data_type_of<Compared<T>>(),
                       !std::is_floating_point_v<T>};
  if constexpr (std::is_floating_point_v<T>)
    loops.runs = select_runs<Term, T>(terms);
  else
    loops.runs = select_runs<MaskedMaxTerm, Compared<T>>(terms);
  return loops;
}

template <typename Term>
inline ReductionLoops select_loops_of(DataType type, int64_t terms) {
  switch (type) {
    case DataType::kUInt8:
      return select_loops<Term, uint8_t>(terms);
    case DataType::kInt8:
      return select_loops<Term, int8_t>(terms);
    case DataType::kUInt16:
      return select_loops<Term, uint16_t>(terms);
    case DataType::kInt16:
      return select_loops<Term, int16_t>(terms);
    case DataType::kUInt32:
      return select_loops<Term, uint32_t>(terms);
    case DataType::kInt32:
      return select_loops<Term, int32_t>(terms);
    case DataType::kUInt64:
      return select_loops<Term, uint64_t>(terms);
    case DataType::kInt64:
      return select_loops<Term, int64_t>(terms);
    case DataType::kFloat:
      return select_loops<Term, float>(terms);
    default:
      return select_loops<Term, double>(terms);
  }
}

inline ReductionLoops select_loops(Fold fold, DataType type, int64_t terms) {
  return fold == Fold::kMin ? select_loops_of<MinTerm>(type, terms)
                            : select_loops_of<MaxTerm>(type, terms);
}

}  // namespace reductions
