// Sums over a grid, and what fn.normalize makes of them.
#pragma once

#include "dali_core/kernels/statistics/grid.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Sums the elements of `input` that belong to each entry of the grid, into `sums`.
void sum_elements(SampleContext& sample, const Tensor& input, const Grid& grid, double* sums);

// Sums the squares of their differences from `means`.
void sum_squares(SampleContext& sample, const Tensor& input, const Grid& grid, const double* means,
                 double* sums);

// Computes (input - mean) * multiplier + shift.
void normalize_elements(SampleContext& sample, const Tensor& input, const Grid& grid,
                        const float* means, const float* multipliers, float shift, Tensor& output);

// Scratch memory of these functions; operators use other slots.
constexpr size_t kBlockSlot = 0;
constexpr size_t kLanesSlot = 1;

}  // namespace dali_core
