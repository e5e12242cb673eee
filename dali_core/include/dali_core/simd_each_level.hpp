// Compiles the file named by DC_SIMD_SOURCE once for every instruction set: see simd.hpp.
// Names in it are private to the file that includes this one.
// No include guard: included once for every such file, at global scope.
#include "dali_core/simd.hpp"

#ifndef DC_SIMD_SOURCE
#error "define DC_SIMD_SOURCE before including simd_each_level.hpp"
#endif

#define DC_SIMD_BYTES 16
namespace dali_core {
namespace simd_baseline {
namespace {
#include DC_SIMD_SOURCE
}
}  // namespace simd_baseline
}  // namespace dali_core
#undef DC_SIMD_BYTES

#if DC_SIMD_X86
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,f16c")
#define DC_SIMD_BYTES 32
namespace dali_core {
namespace simd_avx2 {
namespace {
#include DC_SIMD_SOURCE
}
}  // namespace simd_avx2
}  // namespace dali_core
#undef DC_SIMD_BYTES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2,f16c")
#define DC_SIMD_BYTES 64
namespace dali_core {
namespace simd_avx512 {
namespace {
#include DC_SIMD_SOURCE
}
}  // namespace simd_avx512
}  // namespace dali_core
#undef DC_SIMD_BYTES
#pragma GCC pop_options
#endif

#undef DC_SIMD_SOURCE
