#include "dali_core/kernels/warp/sphere.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/kernels/warp/displacement.hpp"
#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/warp/sphere_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

class SphereWarp : public Displacement {
 public:
  using Displacement::Displacement;

 protected:
  void displace(SampleContext&, const WarpTask<2>& task) const override {
    const Sphere sphere = sphere_of(task.extent[0], task.extent[1]);
    warp_frame(task, DC_SIMD_DISPATCH(find_in_sphere), &sphere);
  }
};

DALI_CORE_REGISTER_OPERATOR("sphere", SphereWarp)

}  // namespace dali_core
