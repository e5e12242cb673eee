// Loops that add integers. No include guard: compiled once for every instruction set.
#include "dali_core/kernels/reduction/reduce_kernels.inc.hpp"

namespace reductions {

// Brings the terms of runs into rows: the first ones of all runs, then the second ones, and so on.
template <int kTerms, typename Bits>
inline void separate_runs(const void* input, int64_t terms, int64_t count, void* output) {
  const Bits* const in = static_cast<const Bits*>(input);
  Bits* const __restrict out = static_cast<Bits*>(output);
  if constexpr (kTerms > 0) {
    Bits* const __restrict second = out + count;
    Bits* const __restrict third = second + count;
    Bits* const __restrict fourth = third + count;
    for (int64_t i = 0; i < count; ++i) {
      out[i] = in[i * kTerms];
      second[i] = in[i * kTerms + 1];
      if constexpr (kTerms > 2) third[i] = in[i * kTerms + 2];
      if constexpr (kTerms > 3) fourth[i] = in[i * kTerms + 3];
    }
  } else {
    for (int64_t k = 0; k < terms; ++k)
      for (int64_t i = 0; i < count; ++i) out[k * count + i] = in[i * terms + k];
  }
}

template <typename Bits>
inline SeparateRuns select_separation_of(int64_t terms) {
  return terms == 2   ? separate_runs<2, Bits>
         : terms == 3 ? separate_runs<3, Bits>
         : terms == 4 ? separate_runs<4, Bits>
                      : separate_runs<0, Bits>;
}

inline SeparateRuns select_separation(int64_t bytes, int64_t terms) {
  switch (bytes) {
    case 1:
      return select_separation_of<uint8_t>(terms);
    case 2:
      return select_separation_of<uint16_t>(terms);
    default:
      return select_separation_of<uint32_t>(terms);
  }
}

template <typename Term, typename Sum, typename From>
inline JoinRuns select_runs(int64_t terms) {
  return terms == 2   ? &join_untyped_runs<2, Term, Sum, From>
         : terms == 3 ? &join_untyped_runs<3, Term, Sum, From>
         : terms == 4 ? &join_untyped_runs<4, Term, Sum, From>
                      : &join_untyped_runs<0, Term, Sum, From>;
}

template <typename Term, typename From>
inline ReductionLoops select_loops(int64_t terms) {
  ReductionLoops loops{&join_untyped_rows<Term, uint64_t, From>,
                       &join_untyped_results<SumTerm, uint64_t>,
                       &join_untyped_copies<SumTerm, uint64_t>,
                       nullptr,
                       nullptr,
                       DataType::kNone};
  // Squares of other types are rare where runs are short: in the channels of images, say.
  if constexpr (std::is_same_v<Term, SumTerm> || sizeof(From) == 8 || std::is_same_v<From, uint8_t>)
    loops.runs = select_runs<Term, uint64_t, From>(terms);
  else
    loops.separate = select_separation(sizeof(From), terms);
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
    default:  // modulo 2^64, INT64 is UINT64
      return select_loops<Term, uint64_t>(terms);
  }
}

inline ReductionLoops select_loops(Fold fold, DataType type, int64_t terms) {
  return fold == Fold::kSquares ? select_loops_of<SquareTerm>(type, terms)
                                : select_loops_of<SumTerm>(type, terms);
}

}  // namespace reductions
