#include <algorithm>
#include <cmath>
#include <vector>

#include "dali_core/kernels/boxes/boxes.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class BoxEncoder : public Operator {
 public:
  explicit BoxEncoder(const OperatorConfig& config) : criteria_(config.get<float>("criteria")) {
    deltas_.is_wanted = config.get<bool>("offset");
    deltas_.scale = config.get<float>("scale");
    const auto means = config.get<std::vector<double>>("means");
    const auto stds = config.get<std::vector<double>>("stds");
    for (size_t i = 0; i < 4; ++i) {
      deltas_.means[i] = static_cast<float>(means[i]);
      deltas_.stds[i] = static_cast<float>(stds[i]);
    }
    const auto numbers = config.get<std::vector<double>>("anchors");
    if (numbers.size() % 4 != 0)
      throw std::invalid_argument("anchors must be four numbers each (got " +
                                  std::to_string(numbers.size()) + " numbers). Complete the last.");
    for (size_t i = 0; i < numbers.size(); i += 4)
      anchors_.push_back({static_cast<float>(numbers[i]), static_cast<float>(numbers[i + 1]),
                          static_cast<float>(numbers[i + 2]), static_cast<float>(numbers[i + 3])});
  }

  void run(SampleContext& sample) const override {
    const int64_t num_boxes = check_inputs(sample);
    const float* const boxes = sample.input(0).as<float>();
    const int32_t* const labels = sample.input(1).as<int32_t>();
    int64_t* const matches = sample.scratch<int64_t>(0, anchors_.size());
    match(boxes, num_boxes, matches, sample.scratch<float>(1, anchors_.size()));
    float* out = sample.output(0, DataType::kFloat, {num_anchors(), 4}).as<float>();
    int32_t* const out_labels = sample.output(1, DataType::kInt32, {num_anchors()}).as<int32_t>();
    for (int64_t i = 0; i < num_anchors(); ++i, out += 4) {
      const bool is_matched = matches[i] >= 0;
      out_labels[i] = is_matched ? labels[matches[i]] : 0;
      encode_box(is_matched ? boxes + 4 * matches[i] : nullptr, anchors_[static_cast<size_t>(i)],
                 deltas_, out);
    }
  }

  void plan(DeviceBatch& batch) const override {
    int64_t all_boxes = 0;
    batch.for_each([&](int i, SampleContext& sample) {
      all_boxes += check_inputs(sample);
      batch.declare(0, i, DataType::kFloat, {num_anchors(), 4});
      batch.declare(1, i, DataType::kInt32, {num_anchors()});
    });
    batch.allocate();
    const UploadedArray<Box> anchors = batch.upload<Box>(anchors_.size());
    std::copy(anchors_.begin(), anchors_.end(), anchors.host);
    auto* best =
        static_cast<int64_t*>(batch.scratch(static_cast<size_t>(all_boxes) * sizeof(int64_t)));
    KernelTasks<BestAnchorTask> searches;
    KernelTasks<AnchorTask> tasks;
    batch.for_each([&](int i, SampleContext& sample) {
      const int64_t num_boxes = sample.input(0).shape[0];
      const auto* const boxes = static_cast<const float*>(data_on_device(batch, sample.input(0)));
      const auto* const labels =
          static_cast<const int32_t*>(data_on_device(batch, sample.input(1)));
      const AnchorTask task{boxes,
                            labels,
                            num_boxes,
                            anchors.device,
                            num_anchors(),
                            best,
                            criteria_,
                            deltas_,
                            batch.output(0, i).as<float>(),
                            batch.output(1, i).as<int32_t>()};
      tasks.add(task, num_anchors());
      for (int64_t box = 0; box < num_boxes; ++box)
        searches.add({boxes + 4 * box, anchors.device, num_anchors(), best++}, 1);
    });
    searches.launch_single_blocks(batch, "find_best_anchors", kBestAnchorThreads);
    tasks.launch(batch, "encode_anchors");
  }

 private:
  int64_t num_anchors() const { return static_cast<int64_t>(anchors_.size()); }

  // Returns the number of boxes.
  static int64_t check_inputs(const SampleContext& sample) {
    const Tensor& labels = sample.input(1);
    const int64_t num_boxes = count_box_rows(sample.input(0));
    check_labels(labels, num_boxes);
    if (labels.type != DataType::kInt32 || labels.num_elements() != num_boxes)
      throw std::invalid_argument("labels must be one int32 for each box (got " +
                                  std::string(name_of(labels.type)) + " of shape " +
                                  to_string(labels.shape) + "). Use fn.cast or fn.reshape.");
    return num_boxes;
  }

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

  float criteria_;
  BoxDeltas deltas_{};
  std::vector<Box> anchors_;
};

DALI_CORE_REGISTER_OPERATOR("box_encoder", BoxEncoder)

}  // namespace dali_core
