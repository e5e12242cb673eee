#include "dali_core/kernels/color/mix_colors.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/kernels/color/mix_colors_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

void mix_colors(const MixTask& task) { DC_SIMD_DISPATCH(mix_pixels, task); }

}  // namespace dali_core
