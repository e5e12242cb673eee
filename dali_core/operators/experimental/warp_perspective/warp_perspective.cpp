// fn.experimental.warp_perspective: images seen from elsewhere.
#include <algorithm>
#include <string>
#include <vector>

#include "dali_core/frame_numbers.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/kernels/warp/perspective.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

Border border_of(const std::string& name) {
  if (name == "replicate") return Border::kClamp;
  if (name == "reflect") return Border::kReflect1001;
  if (name == "reflect_101") return Border::kReflect101;
  return name == "wrap" ? Border::kWrap : Border::kConstant;
}

PerspectiveFilter filter_of(int64_t interp_type) {
  // As types.DALIInterpType numbers them.
  return interp_type == 0   ? PerspectiveFilter::kNearest
         : interp_type == 1 ? PerspectiveFilter::kLinear
                            : PerspectiveFilter::kCubic;
}

// Images of interleaved channels in a sample: all channels, or planes of one each.
struct Images {
  Layout layout;
  int height_axis;
  int64_t frames = 1, planes = 1, channels = 1;

  explicit Images(const Tensor& input) : layout(image_layout(input, "FHWC")) {
    bool is_known = false;
    for (const char* const allowed : {"HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"})
      is_known |= layout == Layout(allowed);
    if (!is_known)
      throw std::invalid_argument(
          "the input's layout must be \"HW\", \"HWC\", \"CHW\", or one of these after \"F\" (got "
          "\"" +
          std::string(layout.c_str()) + "\"). Reorder the dimensions before this operator.");
    height_axis = layout.find('H');
    const int channel_axis = layout.find('C');
    if (layout[0] == 'F') frames = input.shape[0];
    if (channel_axis >= 0)
      (channel_axis < height_axis ? planes : channels) = input.shape[channel_axis];
  }
};

}  // namespace

class WarpPerspective : public Operator {
 public:
  explicit WarpPerspective(const OperatorConfig& config)
      : matrix_(config, "matrix"),
        size_(config, "size"),
        fill_(config.get_or<std::vector<float>>("fill_value", {})),
        has_input_(config.num_inputs > 1),
        inverse_map_(config.get<bool>("inverse_map")),
        origin_(config.get<std::string>("pixel_origin") == "corner" ? 0.5 : 0.0),
        filter_(filter_of(config.get<int64_t>("interp_type"))),
        border_(border_of(config.get<std::string>("border_mode"))) {
    if (has_input_ == matrix_.given())
      throw std::invalid_argument(
          std::string("the matrix must be given as the second input or as matrix (got ") +
          (has_input_ ? "both" : "none") + "). Pass it once.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Images images(input);
    const std::vector<PerspectiveMatrix> matrices = matrices_of(sample, images.frames);
    const std::vector<float> fill = fill_of(images);
    Shape shape = input.shape;
    if (size_.given()) set_size(sample, &shape[images.height_axis]);
    Tensor& output = sample.output(0, input.type, shape, images.layout);
    if (output.num_elements() == 0) return;
    PerspectiveTask task{input.data,
                         output.data,
                         input.type,
                         input.shape[images.height_axis],
                         input.shape[images.height_axis + 1],
                         images.channels,
                         shape[images.height_axis],
                         shape[images.height_axis + 1],
                         {},
                         origin_,
                         filter_,
                         // Nothing can be repeated of an image without pixels.
                         input.num_elements() == 0 ? Border::kConstant : border_,
                         nullptr};
    const int64_t bytes = images.channels * size_of(input.type);
    const int64_t input_bytes = task.height * task.width * bytes;
    const int64_t output_bytes = task.output_height * task.output_width * bytes;
    for (int64_t i = 0; i < images.frames * images.planes; ++i) {
      task.matrix = matrices[matrices.size() == 1 ? 0 : static_cast<size_t>(i / images.planes)];
      task.fill = fill.data() + (images.planes > 1 ? i % images.planes : 0);
      warp_perspective(task);
      task.input = static_cast<const char*>(task.input) + input_bytes;
      task.output = static_cast<char*>(task.output) + output_bytes;
    }
  }

 private:
  std::vector<PerspectiveMatrix> matrices_of(const SampleContext& sample, int64_t frames) const {
    const FrameNumbers::Values numbers =
        has_input_ ? FrameNumbers::values_of(sample.input(1)) : matrix_.at(sample);
    const Shape& given = numbers.shape();
    if (!(given == Shape{9} || given == Shape{3, 3}))
      throw std::invalid_argument("the matrix must have 3 rows and 3 columns (got shape " +
                                  to_string(given) + "). Pass the matrix row by row.");
    const int64_t count = std::max<int64_t>(numbers.num_frames(), 1);
    if (count > 1 && count != frames)
      throw std::invalid_argument("the matrices must be one for each of the " +
                                  std::to_string(frames) + " frames, or one for all (got " +
                                  std::to_string(count) + "). Pass as many as there are frames.");
    std::vector<PerspectiveMatrix> matrices(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const float* const values = numbers.of(i);
      PerspectiveMatrix& matrix = matrices[static_cast<size_t>(i)];
      for (int k = 0; k < 9; ++k) matrix.m[k / 3][k % 3] = values[k];
      if (!inverse_map_) matrix = matrix.inverse();
    }
    return matrices;
  }

  std::vector<float> fill_of(const Images& images) const {
    const auto count = static_cast<size_t>(std::max(images.channels, images.planes));
    if (fill_.size() > 1 && fill_.size() != count)
      throw std::invalid_argument("fill_value must be one number, or one for each of the " +
                                  std::to_string(count) + " channels (got " +
                                  std::to_string(fill_.size()) + "). Pass as many.");
    if (fill_.size() == count) return fill_;
    return std::vector<float>(count, fill_.empty() ? 0.0f : fill_[0]);
  }

  void set_size(const SampleContext& sample, int64_t* extents) const {
    std::vector<float> storage;
    const std::vector<float>& size = size_.at(sample, storage);
    for (size_t i = 0; i < 2; ++i) {
      const float given = size[i];
      if (!(given >= 0.5f && given <= 1e9f))
        throw std::invalid_argument("size must be at least one pixel and at most 10^9 (got " +
                                    std::to_string(given) + "). Pass the size in pixels.");
      extents[i] = std::llround(given);
    }
  }

  FrameNumbers matrix_;
  ListArgument<float> size_;
  std::vector<float> fill_;
  bool has_input_, inverse_map_;
  double origin_;
  PerspectiveFilter filter_;
  Border border_;
};

DALI_CORE_REGISTER_OPERATOR("experimental.warp_perspective", WarpPerspective)

}  // namespace dali_core
