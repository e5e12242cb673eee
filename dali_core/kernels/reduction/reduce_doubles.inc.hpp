// Loops that add in double precision. No include guard: compiled once for every instruction set.
#include "dali_core/kernels/reduction/reduce_kernels.inc.hpp"

namespace reductions {

template <typename Term, typename Sum, typename From>
inline JoinRuns select_runs(int64_t terms) {
  return terms == 2   ? &join_untyped_runs<2, Term, Sum, From>
         : terms == 3 ? &join_untyped_runs<3, Term, Sum, From>
         : terms == 4 ? &join_untyped_runs<4, Term, Sum, From>
                      : &join_four_runs<Term, Sum, From>;
}

template <typename Term, typename From>
inline ReductionLoops select_loops(int64_t terms) {
  return {&join_untyped_rows<Term, double, From>,
          &join_untyped_results<SumTerm, double>,
          &join_untyped_copies<SumTerm, double>,
          select_runs<Term, double, From>(terms),
          nullptr,
          DataType::kNone};
}

template <typename Term>
inline ReductionLoops select_loops_of(DataType type, int64_t terms) {
  switch (type) {
    case DataType::kUInt8:
      return select_loops<Term, uint8_t>(terms);
    case DataType::kFloat:
      return select_loops<Term, float>(terms);
    default:
      return select_loops<Term, double>(terms);
  }
}

inline ReductionLoops select_loops(Fold fold, DataType type, int64_t terms) {
  return fold == Fold::kDeviations ? select_loops_of<DeviationTerm>(type, terms)
         : fold == Fold::kSquares  ? select_loops_of<SquareTerm>(type, terms)
                                   : select_loops_of<SumTerm>(type, terms);
}

}  // namespace reductions
