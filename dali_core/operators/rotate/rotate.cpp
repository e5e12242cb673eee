// fn.rotate: the size of the canvas. The rule for a pixel is that of
// dali_core/kernels/warp/warp.hpp.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "dali_core/frame_numbers.hpp"
#include "dali_core/kernels/warp/affine_warp.hpp"
#include "dali_core/kernels/warp/rotated_extents.hpp"

namespace dali_core {

class Rotate : public AffineWarpOperator<Rotate> {
 public:
  explicit Rotate(const OperatorConfig& config)
      : AffineWarpOperator(config),
        angle_(config, "angle"),
        axis_(config, "axis"),
        keep_size_(config.get<bool>("keep_size")) {}

  void find(const SampleContext& sample, AffineWarp& warp) const {
    const WarpShape& shape = warp.source;
    warp.transforms = rotations(sample, shape);
    if (arguments_.has_size())
      arguments_.size(sample, shape, warp.extent);
    else if (keep_size_)
      std::copy_n(shape.extent, 3, warp.extent);
    else
      fit(warp.transforms, shape, warp.extent);
    for (AffineTransform& transform : warp.transforms) {
      for (int row = 0; row < shape.num_dims; ++row) {
        double moved = 0;
        for (int column = 0; column < shape.num_dims; ++column)
          moved += transform.matrix[row][column] * static_cast<double>(warp.extent[column]);
        transform.translation(row) = (static_cast<double>(shape.extent[row]) - moved) / 2;
      }
    }
  }

 private:
  // Rotations around the origin that take directions in the output to directions in the input.
  std::vector<AffineTransform> rotations(const SampleContext& sample,
                                         const WarpShape& shape) const {
    const FrameNumbers::Values angle = angle_.at(sample), axis = axis_.at(sample);
    if (angle.count() != 1)
      throw std::invalid_argument("angle must be one number (got shape " +
                                  to_string(angle.shape()) + "). Pass a scalar.");
    if (shape.num_dims == 3 && axis.count() != 3)
      throw std::invalid_argument("axis must be a direction (x, y, z) to rotate volumes (got " +
                                  std::to_string(axis.count()) + " numbers). Pass three.");
    check_frames(angle, shape, "angle");
    check_frames(axis, shape, "axis");
    std::vector<AffineTransform> transforms;
    for (int64_t frame = 0; frame < std::max({angle.num_frames(), axis.num_frames(), int64_t{1}});
         ++frame) {
      const float degrees = angle.of(frame)[0];
      // The picture turns against x towards y, the volume from x towards y: both are what NVIDIA
      // DALI does.
      transforms.push_back(shape.num_dims == 2 ? rotation(radians(degrees))
                                               : rotation(-radians(degrees), axis.of(frame)));
    }
    return transforms;
  }

  static void check_frames(const FrameNumbers::Values& values, const WarpShape& shape,
                           const char* name) {
    if (values.num_frames() > 1 && values.num_frames() != shape.frames)
      throw std::invalid_argument(std::string(name) + " must have one value for each of the " +
                                  std::to_string(shape.frames) + " frames, or one for all (got " +
                                  std::to_string(values.num_frames()) +
                                  "). Pass as many as there are frames.");
  }

  // A canvas that all frames fit in; it is odd where most of them want that.
  static void fit(const std::vector<AffineTransform>& transforms, const WarpShape& shape,
                  int64_t* extent) {
    int64_t votes[3] = {};
    std::fill_n(extent, 3, int64_t{0});
    for (const AffineTransform& transform : transforms) {
      // Extents do not depend on the direction of the rotation, but its matrix must be the one
      // from the input to the output.
      AffineTransform forward(shape.num_dims);
      for (int row = 0; row < shape.num_dims; ++row)
        for (int column = 0; column < shape.num_dims; ++column)
          forward.matrix[row][column] = transform.matrix[column][row];
      const RotatedExtents rotated = rotated_extents(forward, shape.extent);
      for (int d = 0; d < shape.num_dims; ++d) {
        extent[d] = std::max(extent[d], rotated.extent[d]);
        votes[d] += rotated.odd[d] ? 1 : -1;
      }
    }
    for (int d = 0; d < shape.num_dims; ++d) extent[d] += (extent[d] % 2 != 0) != (votes[d] > 0);
  }

  FrameNumbers angle_, axis_;
  bool keep_size_;
};

DALI_CORE_REGISTER_OPERATOR("rotate", Rotate)

}  // namespace dali_core
