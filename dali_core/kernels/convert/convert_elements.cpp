#include "dali_core/kernels/convert/convert_elements.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/convert.hpp"
#include "dali_core/simd.hpp"
#include "dali_core/types.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

using ConvertRun = void (*)(const void* in, void* out, int64_t count);

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/convert/convert_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

void convert_elements(const void* in, DataType from, void* out, DataType to, int64_t count) {
  if (from == to) {
    if (count > 0) std::memcpy(out, in, static_cast<size_t>(count * size_of(to)));
    return;
  }
  const ConvertRun convert_run = DC_SIMD_DISPATCH(find_run, from, to);
  convert_run(in, out, count);
}

}  // namespace dali_core
