#include "dali_core/kernels/flip/mirror_row.hpp"

#include <array>
#include <cstring>

#include "dali_core/kernels/flip/flip.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/kernels/flip/flip_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

void mirror_row(const void* from, void* to, int64_t num_pixels, int64_t pixel_bytes) {
  DC_SIMD_DISPATCH(mirror_pixels, static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to),
                   num_pixels, pixel_bytes);
}

}  // namespace dali_core
