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
    share_expanded_ = mode == "expand" ? 1 : mode == "fixed" ? 0 : 0.5f;
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
    float sine, cosine;
    float image[2], extent[2];  // width and height, in pixels
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
    Canvas canvas{static_cast<float>(std::sin(angle)), static_cast<float>(std::cos(angle)), {}, {}};
    std::vector<float> size_storage;
    if (size_.given() && size_.at(sample, size_storage).size() != 2)
      throw std::invalid_argument("size must be the height and the width of the canvas (got " +
                                  std::to_string(size_.at(sample, size_storage).size()) +
                                  " numbers). Pass two.");
    for (int dim = 0; dim < 2; ++dim) {
      canvas.image[dim] = static_cast<float>(image[dim]);
      canvas.extent[dim] = size_.given() ? std::floor(size_.at(sample, size_storage)[1 - dim])
                           : keeps_size_ ? canvas.image[dim]
                                         : static_cast<float>(canvas_extent(extents, dim));
    }
    return canvas;
  }

  // In single precision: at odd multiples of 45 degrees the box around a rotated one is a square
  // but for rounding, which decides the direction of the longer side as in the reference.
  Box rotate(const Box& box, const Canvas& canvas) const {
    float start[2] = {box.left, box.top}, end[2] = {box.right, box.bottom};
    for (int dim = 0; dim < 2; ++dim) {
      const float center = is_normalized_ ? 0.5f : canvas.image[dim] / 2;
      const float unit = is_normalized_ ? canvas.image[dim] : 1.0f;
      start[dim] = (start[dim] - center) * unit;
      end[dim] = (end[dim] - center) * unit;
    }
    float low[2], high[2];
    for (int corner = 0; corner < 4; ++corner) {
      const float x = (corner % 2 == 0 ? start : end)[0];
      const float y = (corner < 2 ? start : end)[1];
      const float rotated[2] = {canvas.cosine * x + canvas.sine * y + canvas.extent[0] / 2,
                                canvas.cosine * y - canvas.sine * x + canvas.extent[1] / 2};
      for (int dim = 0; dim < 2; ++dim) {
        low[dim] = corner == 0 ? rotated[dim] : std::min(low[dim], rotated[dim]);
        high[dim] = corner == 0 ? rotated[dim] : std::max(high[dim], rotated[dim]);
      }
    }
    const float width = end[0] - start[0], height = end[1] - start[1];
    const float expanded[2] = {high[0] - low[0], high[1] - low[1]};
    const bool is_wide = expanded[0] >= expanded[1];
    const float fixed[2] = {is_wide ? std::max(width, height) : std::min(width, height),
                            is_wide ? std::min(width, height) : std::max(width, height)};
    float result[4];
    for (int dim = 0; dim < 2; ++dim) {
      const float removed = (1 - share_expanded_) * (expanded[dim] - fixed[dim]) / 2;
      const float unit = is_normalized_ ? canvas.extent[dim] : 1.0f;
      result[dim] = (low[dim] + removed) / unit;
      result[2 + dim] = (high[dim] - removed) / unit;
    }
    return {result[0], result[1], result[2], result[3]};
  }

  // Cuts a box off at the borders of the canvas; returns whether enough of it is left.
  bool cut_off(Box& box, const Canvas& canvas) const {
    if (!std::isfinite(box.left + box.top + box.right + box.bottom))
      throw std::invalid_argument(
          "boxes must be finite (got infinite numbers or NaN). Leave such boxes out.");
    const float right = is_normalized_ ? 1 : canvas.extent[0];
    const float bottom = is_normalized_ ? 1 : canvas.extent[1];
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
  float share_expanded_ = 1;
};

DALI_CORE_REGISTER_OPERATOR("bbox_rotate", BoxRotate)

}  // namespace dali_core
