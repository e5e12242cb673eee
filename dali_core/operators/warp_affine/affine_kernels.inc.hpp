// Affine warps, compiled for every instruction set (see simd.hpp), hence without guard.

#include "dali_core/operators/warp_affine/warp_kernels.inc.hpp"

inline void warp_image(const WarpTask<2>& task, const WarpMap<2>& map) {
  warp_with(task, AffineCoordinates<2>{map});
}

inline void warp_volume(const WarpTask<3>& task, const WarpMap<3>& map) {
  warp_with(task, AffineCoordinates<3>{map});
}
