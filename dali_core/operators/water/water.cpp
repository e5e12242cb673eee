#include "dali_core/kernels/warp/water.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/kernels/warp/displacement.hpp"
#include "dali_core/simd.hpp"

namespace dali_core {
namespace {

struct Shifts {
  const float* of_rows;     // along x
  const float* of_columns;  // along y
};

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/warp/water_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

class Water : public Displacement {
 public:
  explicit Water(const OperatorConfig& config)
      : Displacement(config), along_x_(wave(config, "x")), along_y_(wave(config, "y")) {}

 protected:
  void displace(SampleContext& sample, const WarpTask<2>& task) const override {
    const int32_t width = task.extent[0], height = task.extent[1];
    float* const shifts_x = sample.scratch<float>(1, static_cast<size_t>(height));
    float* const shifts_y = sample.scratch<float>(2, static_cast<size_t>(width));
    for (int32_t y = 0; y < height; ++y) shifts_x[y] = shift_of_row(along_x_, y);
    for (int32_t x = 0; x < width; ++x) shifts_y[x] = shift_of_column(along_y_, x);
    const Shifts shifts{shifts_x, shifts_y};
    warp_frame(task, DC_SIMD_DISPATCH(find_in_water), &shifts);
  }

 private:
  static Wave wave(const OperatorConfig& config, const std::string& axis) {
    return {config.get<float>("ampl_" + axis), config.get<float>("freq_" + axis),
            config.get<float>("phase_" + axis)};
  }

  Wave along_x_, along_y_;
};

DALI_CORE_REGISTER_OPERATOR("water", Water)

}  // namespace dali_core
