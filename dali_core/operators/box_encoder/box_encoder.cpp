#include <algorithm>
#include <cmath>
#include <vector>

#include "dali_core/kernels/boxes/boxes.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Centre and extents.
struct CenteredBox {
  float numbers[4];

  explicit CenteredBox(const Box& box)
      : numbers{0.5f * (box.left + box.right), 0.5f * (box.top + box.bottom), box.width(),
                box.height()} {}
};

}  // namespace

class BoxEncoder : public Operator {
 public:
  explicit BoxEncoder(const OperatorConfig& config)
      : criteria_(config.get<float>("criteria")),
        is_offset_(config.get<bool>("offset")),
        scale_(config.get<float>("scale")),
        means_(config.get<std::vector<double>>("means")),
        stds_(config.get<std::vector<double>>("stds")) {
    const auto numbers = config.get<std::vector<double>>("anchors");
    if (numbers.size() % 4 != 0)
      throw std::invalid_argument("anchors must be four numbers each (got " +
                                  std::to_string(numbers.size()) + " numbers). Complete the last.");
    for (size_t i = 0; i < numbers.size(); i += 4)
      anchors_.push_back({static_cast<float>(numbers[i]), static_cast<float>(numbers[i + 1]),
                          static_cast<float>(numbers[i + 2]), static_cast<float>(numbers[i + 3])});
  }

  void run(SampleContext& sample) const override {
    const Tensor& boxes = sample.input(0);
    const Tensor& labels = sample.input(1);
    const int64_t num_boxes = count_box_rows(boxes);
    check_labels(labels, num_boxes);
    if (labels.type != DataType::kInt32 || labels.num_elements() != num_boxes)
      throw std::invalid_argument("labels must be one int32 for each box (got " +
                                  std::string(name_of(labels.type)) + " of shape " +
                                  to_string(labels.shape) + "). Use fn.cast or fn.reshape.");
    const auto num_anchors = static_cast<int64_t>(anchors_.size());
    int64_t* const matches = sample.scratch<int64_t>(0, anchors_.size());
    match(boxes.as<float>(), num_boxes, matches, sample.scratch<float>(1, anchors_.size()));
    float* out = sample.output(0, DataType::kFloat, {num_anchors, 4}).as<float>();
    int32_t* const out_labels = sample.output(1, DataType::kInt32, {num_anchors}).as<int32_t>();
    for (int64_t i = 0; i < num_anchors; ++i, out += 4) {
      const CenteredBox anchor(anchors_[static_cast<size_t>(i)]);
      const bool is_matched = matches[i] >= 0;
      out_labels[i] = is_matched ? labels.as<int32_t>()[matches[i]] : 0;
      if (is_matched) {
        const CenteredBox box(read_box(boxes.as<float>() + 4 * matches[i], true));
        write(box, anchor, out);
      } else if (is_offset_) {
        std::fill_n(out, 4, 0.0f);
      } else {
        std::copy_n(anchor.numbers, 4, out);
      }
    }
  }

 private:
  // The box of each anchor, or -1.
  void match(const float* boxes, int64_t num_boxes, int64_t* matches, float* overlaps) const {
    const size_t count = anchors_.size();
    std::fill_n(matches, count, -1);
    std::fill_n(overlaps, count, criteria_);
    constexpr float kForced = 2;  // more than any overlap
    for (int64_t i = 0; i < num_boxes; ++i) {
      const Box box = read_box(boxes + 4 * i, true);
      if (!std::isfinite(box.left + box.top + box.right + box.bottom))
        throw std::invalid_argument("boxes must be finite (got box " + std::to_string(i) +
                                    " with infinite numbers or NaN). Leave it out.");
      size_t best = 0;
      float best_overlap = 0;
      for (size_t anchor = 0; anchor < count; ++anchor) {
        const float overlap = intersection_over_union(box, anchors_[anchor]);
        if (overlap >= best_overlap) {
          best = anchor;
          best_overlap = overlap;
        }
        if (overlap > criteria_ && overlap >= overlaps[anchor]) {
          matches[anchor] = i;
          overlaps[anchor] = overlap;
        }
      }
      matches[best] = i;
      overlaps[best] = kForced;
    }
  }

  void write(const CenteredBox& box, const CenteredBox& anchor, float* out) const {
    if (!is_offset_) {
      std::copy_n(box.numbers, 4, out);
      return;
    }
    for (int i = 0; i < 4; ++i) {
      const float scaled = box.numbers[i] * scale_;
      const float extent = anchor.numbers[i < 2 ? i + 2 : i] * scale_;
      const float delta =
          i < 2 ? (scaled - anchor.numbers[i] * scale_) / extent : std::log(scaled / extent);
      out[i] = (delta - static_cast<float>(means_[i])) / static_cast<float>(stds_[i]);
    }
  }

  float criteria_;
  bool is_offset_;
  float scale_;
  std::vector<double> means_, stds_;
  std::vector<Box> anchors_;
};

DALI_CORE_REGISTER_OPERATOR("box_encoder", BoxEncoder)

}  // namespace dali_core
