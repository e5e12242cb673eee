#include <algorithm>
#include <cmath>

#include "dali_core/frame_numbers.hpp"
#include "dali_core/kernels/warp/affine_warp.hpp"

namespace dali_core {

class WarpAffine : public AffineWarpOperator<WarpAffine> {
 public:
  explicit WarpAffine(const OperatorConfig& config)
      : AffineWarpOperator(config),
        matrix_(config, "matrix"),
        has_input_(config.num_inputs > 1),
        inverse_map_(config.get<bool>("inverse_map")) {
    if (has_input_ == matrix_.given())
      throw std::invalid_argument(
          std::string("the matrix must be given as the second input or as matrix (got ") +
          (has_input_ ? "both" : "none") + "). Pass it once.");
  }

  void find(const SampleContext& sample, AffineWarp& warp) const {
    warp.transforms = transforms_of(sample, warp.source);
    std::copy_n(warp.source.extent, 3, warp.extent);
    if (arguments_.has_size()) arguments_.size(sample, warp.source, warp.extent);
  }

 private:
  std::vector<AffineTransform> transforms_of(const SampleContext& sample,
                                             const WarpShape& shape) const {
    if (has_input_ && sample.input(1).device != kHost)
      throw std::invalid_argument(
          "the matrix must be on the host (got an input on a device). Pass it by .cpu().");
    const FrameNumbers::Values numbers =
        has_input_ ? FrameNumbers::values_of(sample.input(1)) : matrix_.at(sample);
    const int ndim = shape.num_dims;
    const Shape& given = numbers.shape();
    const bool fits = given.ndim == 1 ? given[0] == ndim * (ndim + 1)
                                      : given.ndim == 2 && given[0] == ndim && given[1] == ndim + 1;
    if (!fits)
      throw std::invalid_argument("the matrix must have " + std::to_string(ndim) + " rows and " +
                                  std::to_string(ndim + 1) + " columns (got shape " +
                                  to_string(given) + " for an input with layout \"" +
                                  shape.layout.c_str() + "\"). Pass the matrix row by row.");
    const int64_t frames = numbers.num_frames();
    if (frames > 1 && frames != shape.frames)
      throw std::invalid_argument("the matrices must be one for each of the " +
                                  std::to_string(shape.frames) + " frames, or one for all (got " +
                                  std::to_string(frames) + "). Pass as many as there are frames.");
    std::vector<AffineTransform> transforms;
    for (int64_t frame = 0; frame < (frames > 0 ? frames : 1); ++frame) {
      AffineTransform transform(ndim);
      const float* const entries = numbers.of(frame);
      for (int i = 0; i < ndim * (ndim + 1); ++i)
        if (!std::isfinite(entries[i]))
          throw std::invalid_argument("the matrix must be finite (got " +
                                      std::to_string(entries[i]) + "). Check how it is computed.");
      transform.read(entries);
      transforms.push_back(inverse_map_ ? transform : inverse(transform));
    }
    return transforms;
  }

  FrameNumbers matrix_;
  bool has_input_;
  bool inverse_map_;
};

DALI_CORE_REGISTER_OPERATOR("warp_affine", WarpAffine)

}  // namespace dali_core
