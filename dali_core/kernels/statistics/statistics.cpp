#include "dali_core/kernels/statistics/statistics.hpp"

#include <algorithm>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/statistics/normalize.hpp"
#include "dali_core/simd.hpp"

namespace dali_core {
namespace {

// Elements as float: themselves, or converted to `block`.
const float* as_floats(const void* in, DataType type, int64_t first, int64_t count, float* block) {
  if (type == DataType::kFloat) return static_cast<const float*>(in) + first;
  convert_to_floats(element_at(in, type, first), type, block, count);
  return block;
}

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/statistics/statistics_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

constexpr int64_t kFewestLanes = 16;
constexpr int64_t kBlockSize = 1024;

// How a run is cut: into blocks that stay in the cache, and lanes that fill vector registers.
struct Lanes {
  int64_t lanes;
  int64_t block_size;

  explicit Lanes(const Grid& grid) {
    const int64_t period = std::max<int64_t>(grid.period, 1);
    lanes = (kFewestLanes + period - 1) / period * period;
    if (period == 3) lanes = 24;
    block_size = std::max<int64_t>(kBlockSize / lanes, 1) * lanes;
  }
};

template <typename T>
void repeat(const T* values, int64_t period, int64_t lanes, T* to) {
  for (int64_t j = 0; j < lanes; ++j) to[j] = values[j % period];
}

// Where runs are short there are many of them: everything is converted at once.
void normalize_short_runs(SampleContext& sample, const Tensor& input, const Grid& grid,
                          const float* means, const float* multipliers, float shift,
                          Tensor& output) {
  const int64_t count = input.num_elements();
  float* const block = sample.scratch<float>(kBlockSlot, static_cast<size_t>(count));
  const float* const values = as_floats(input.data, input.type, 0, count, block);
  const bool in_place = output.type == DataType::kFloat;
  float* const results = in_place ? output.as<float>() : block;
  grid.for_each_run([&](int64_t element, int64_t entry) {
    for (int64_t first = element; first < element + grid.run; first += grid.period)
      for (int64_t j = 0; j < grid.period; ++j)
        results[first + j] =
            normalized(values[first + j], means[entry + j], multipliers[entry + j], shift);
  });
  if (!in_place) convert_from_floats(block, output.data, output.type, count);
}

}  // namespace

void normalize_elements(SampleContext& sample, const Tensor& input, const Grid& grid,
                        const float* means, const float* multipliers, float shift, Tensor& output) {
  const Lanes cut(grid);
  if (grid.run < cut.lanes)
    return normalize_short_runs(sample, input, grid, means, multipliers, shift, output);
  float* const block = sample.scratch<float>(kBlockSlot, static_cast<size_t>(cut.block_size));
  float* const lane_means = sample.scratch<float>(kLanesSlot, static_cast<size_t>(2 * cut.lanes));
  float* const lane_multipliers = lane_means + cut.lanes;
  grid.for_each_run([&](int64_t element, int64_t entry) {
    repeat(means + entry, grid.period, cut.lanes, lane_means);
    repeat(multipliers + entry, grid.period, cut.lanes, lane_multipliers);
    DC_SIMD_DISPATCH(normalize_run, input.data, input.type, output.data, output.type, element,
                     grid.run, cut.lanes, cut.block_size, lane_means, lane_multipliers, shift,
                     block);
  });
}

}  // namespace dali_core
