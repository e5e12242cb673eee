// The instruction set that the kernels use, chosen once per process.
//
// Kernels are written once, in a file without include guard, and compiled for every level by
//
//   #define DC_SIMD_SOURCE "loops.inc.hpp"
//   #include "dali_core/simd_each_level.hpp"
//
// which wraps the file in namespaces `simd_baseline`, `simd_avx2`, `simd_avx512`. Inside, the macro
// DC_SIMD_BYTES is the width of a vector register. Contraction to fused multiply-add is off and
// sums have a fixed order, so all levels give the same bits. Call one with
//
//   DC_SIMD_DISPATCH(loop, arguments...)
#pragma once

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

// Clang understands other pragmas; it gets the baseline, which its users can raise with -march.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define DC_SIMD_X86 1
#else
#define DC_SIMD_X86 0
#endif

namespace dali_core {

enum class SimdLevel { kBaseline = 0, kAvx2 = 1, kAvx512 = 2 };

inline SimdLevel best_simd_level() {
#if DC_SIMD_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return SimdLevel::kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return SimdLevel::kAvx2;
#endif
  return SimdLevel::kBaseline;
}

// The environment variable DALI_CORE_SIMD (baseline, avx2, avx512) lowers the level, for tests and
// for comparing machines.
inline SimdLevel choose_simd_level() {
  const SimdLevel best = best_simd_level();
  const char* wish = std::getenv("DALI_CORE_SIMD");
  if (wish == nullptr || *wish == 0) return best;
  SimdLevel level;
  if (std::strcmp(wish, "baseline") == 0) {
    level = SimdLevel::kBaseline;
  } else if (std::strcmp(wish, "avx2") == 0) {
    level = SimdLevel::kAvx2;
  } else if (std::strcmp(wish, "avx512") == 0) {
    level = SimdLevel::kAvx512;
  } else {
    throw std::runtime_error("DALI_CORE_SIMD must be baseline, avx2 or avx512 (got \"" +
                             std::string(wish) + "\"). Unset it to use what the processor has.");
  }
  return level < best ? level : best;
}

inline SimdLevel simd_level() {
  static const SimdLevel level = choose_simd_level();
  return level;
}

}  // namespace dali_core

#if DC_SIMD_X86
#define DC_SIMD_DISPATCH(function, ...)                         \
  (::dali_core::simd_level() == ::dali_core::SimdLevel::kAvx512 \
       ? simd_avx512::function(__VA_ARGS__)                     \
   : ::dali_core::simd_level() == ::dali_core::SimdLevel::kAvx2 \
       ? simd_avx2::function(__VA_ARGS__)                       \
       : simd_baseline::function(__VA_ARGS__))
#else
#define DC_SIMD_DISPATCH(function, ...) (simd_baseline::function(__VA_ARGS__))
#endif
