#include "dali_core/operators/sphere/sphere.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/operators/warp_affine/displacement.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/operators/sphere/sphere_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

class SphereWarp : public Displacement {
 public:
  using Displacement::Displacement;

 protected:
  void displace(SampleContext&, const WarpTask<2>& task) const override {
    DC_SIMD_DISPATCH(warp_sphere, task);
  }
};

DALI_CORE_REGISTER_OPERATOR("sphere", SphereWarp)

}  // namespace dali_core
