// The loop of fn.sphere, compiled for every instruction set (see simd.hpp), hence without guard.

#include "dali_core/operators/warp_affine/warp_kernels.inc.hpp"

struct SphereCoordinates {
  Sphere sphere;

  void operator()(const int32_t* position, int count, float (&coordinates)[2][kWarpBlock]) const {
    for (int i = 0; i < count; ++i)
      sphere_coordinates(sphere, position[0] + i, position[1], coordinates[0][i],
                         coordinates[1][i]);
  }
};

inline void warp_sphere(const WarpTask<2>& task) {
  warp_with(task, SphereCoordinates{sphere_of(task.extent[0], task.extent[1])});
}
