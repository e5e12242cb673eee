// Normalises the elements of a tensor for fn.normalize.
#pragma once

#include "dali_core/kernels/statistics/grid.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Computes (input - mean) * multiplier + shift.
void normalize_elements(SampleContext& sample, const Tensor& input, const Grid& grid,
                        const float* means, const float* multipliers, float shift, Tensor& output);

// Scratch memory of these functions; operators use other slots.
constexpr size_t kBlockSlot = 0;
constexpr size_t kLanesSlot = 1;

}  // namespace dali_core
