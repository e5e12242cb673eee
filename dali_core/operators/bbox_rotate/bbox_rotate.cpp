#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dali_core/kernels/boxes/boxes.hpp"
#include "dali_core/kernels/boxes/kept_rows.hpp"
#include "dali_core/kernels/warp/rotated_extents.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class BoxRotate : public Operator {
 public:
  explicit BoxRotate(const OperatorConfig& config)
      : angle_(config, "angle"),
        input_shape_(config, "input_shape"),
        size_(config, "size"),
        keeps_size_(config.get<bool>("keep_size")),
        is_corners_(config.get<std::string>("bbox_layout") == "xyXY"),
        is_normalized_(config.get<bool>("bbox_normalized")),
        least_share_(config.get<float>("remove_threshold")) {
    const auto layout = config.get<std::string>("shape_layout");
    height_ = layout.find('H');
    width_ = layout.find('W');
    if (height_ == std::string::npos || width_ == std::string::npos)
      throw std::invalid_argument("shape_layout must have the letters H and W (got \"" + layout +
                                  "\"). Pass the layout of input_shape.");
    if (size_.given() && keeps_size_)
      throw std::invalid_argument(
          "size and keep_size must not be given together (got both). Leave one out.");
    const auto mode = config.get<std::string>("mode");
    share_expanded_ = mode == "expand" ? 1 : mode == "fixed" ? 0 : 0.5;
  }

  void run(SampleContext& sample) const override {
    const Tensor& boxes = sample.input(0);
    const int64_t count = count_box_rows(boxes);
    if (sample.num_inputs() > 1) check_labels(sample.input(1), count);
    const Canvas canvas = canvas_of(sample);
    std::vector<Box> rotated;
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < count; ++i) {
      Box box = rotate(read_box(boxes.as<float>() + 4 * i, is_corners_), canvas);
      if (!cut_off(box, canvas)) continue;
      rotated.push_back(box);
      kept.push_back(i);
    }
    float* out =
        sample.output(0, DataType::kFloat, {static_cast<int64_t>(kept.size()), 4}).as<float>();
    for (const Box& box : rotated) {
      write_box(box, is_corners_, out);
      out += 4;
    }
    if (sample.num_inputs() > 1) write_kept_rows(sample, 1, sample.input(1), kept);
  }

 private:
  struct Canvas {
    double sine, cosine;
    double image[2], extent[2];  // width and height, in pixels
  };

  Canvas canvas_of(const SampleContext& sample) const {
    std::vector<int64_t> shape_storage;
    const std::vector<int64_t>& shape = input_shape_.at(sample, shape_storage);
    if (shape.size() <= std::max(height_, width_))
      throw std::invalid_argument(
          "input_shape must have the height and the width of the image "
          "(got " +
          std::to_string(shape.size()) + " numbers). Pass the shape of the image.");
    const double angle = radians(angle_.at(sample));
    const int64_t image[2] = {shape[width_], shape[height_]};
    // From directions in the image to directions in the canvas.
    const AffineTransform forward = rotation(-angle);
    const RotatedExtents extents = rotated_extents(forward, image);
    Canvas canvas{std::sin(angle), std::cos(angle), {}, {}};
    std::vector<float> size_storage;
    if (size_.given() && size_.at(sample, size_storage).size() != 2)
      throw std::invalid_argument("size must be the height and the width of the canvas (got " +
                                  std::to_string(size_.at(sample, size_storage).size()) +
                                  " numbers). Pass two.");
    for (int dim = 0; dim < 2; ++dim) {
      canvas.image[dim] = static_cast<double>(image[dim]);
      canvas.extent[dim] = size_.given() ? std::floor(size_.at(sample, size_storage)[1 - dim])
                           : keeps_size_ ? canvas.image[dim]
                                         : static_cast<double>(canvas_extent(extents, dim));
    }
    return canvas;
  }

  Box rotate(const Box& box, const Canvas& canvas) const {
    const double scale[2] = {is_normalized_ ? canvas.image[0] : 1,
                             is_normalized_ ? canvas.image[1] : 1};
    const double extent[2] = {box.width() * scale[0], box.height() * scale[1]};
    const double x = box.left * scale[0] + extent[0] / 2 - canvas.image[0] / 2;
    const double y = box.top * scale[1] + extent[1] / 2 - canvas.image[1] / 2;
    const double center[2] = {canvas.cosine * x + canvas.sine * y + canvas.extent[0] / 2,
                              canvas.cosine * y - canvas.sine * x + canvas.extent[1] / 2};
    const double s = std::abs(canvas.sine), c = std::abs(canvas.cosine);
    double half[2], result[4];
    for (int dim = 0; dim < 2; ++dim) {
      const double expanded = c * extent[dim] + s * extent[1 - dim];
      const double fixed = extent[s > c ? 1 - dim : dim];
      half[dim] = (share_expanded_ * expanded + (1 - share_expanded_) * fixed) / 2;
      const double unit = is_normalized_ ? canvas.extent[dim] : 1;
      result[dim] = (center[dim] - half[dim]) / unit;
      result[2 + dim] = (center[dim] + half[dim]) / unit;
    }
    return {static_cast<float>(result[0]), static_cast<float>(result[1]),
            static_cast<float>(result[2]), static_cast<float>(result[3])};
  }

  // Cuts a box off at the borders of the canvas; returns whether enough of it is left.
  bool cut_off(Box& box, const Canvas& canvas) const {
    if (!std::isfinite(box.left + box.top + box.right + box.bottom))
      throw std::invalid_argument(
          "boxes must be finite (got infinite numbers or NaN). Leave such boxes out.");
    const float right = is_normalized_ ? 1 : static_cast<float>(canvas.extent[0]);
    const float bottom = is_normalized_ ? 1 : static_cast<float>(canvas.extent[1]);
    const float area = box.area();
    box = {std::clamp(box.left, 0.0f, right), std::clamp(box.top, 0.0f, bottom),
           std::clamp(box.right, 0.0f, right), std::clamp(box.bottom, 0.0f, bottom)};
    return least_share_ == 0 || (area > 0 && box.area() / area >= least_share_);
  }

  Argument<float> angle_;
  ListArgument<int64_t> input_shape_;
  ListArgument<float> size_;
  bool keeps_size_, is_corners_, is_normalized_;
  float least_share_;
  size_t height_ = 0, width_ = 0;
  double share_expanded_ = 1;
};

DALI_CORE_REGISTER_OPERATOR("bbox_rotate", BoxRotate)

}  // namespace dali_core
