// Writes the pixels of a row in reverse order; the fast loops are those of fn.flip.
#pragma once

#include <cstdint>

namespace dali_core {

void mirror_row(const void* from, void* to, int64_t num_pixels, int64_t pixel_bytes);

}  // namespace dali_core
