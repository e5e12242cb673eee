// fn.filter and its former name: what is filtered with what.
#pragma once

#include <array>
#include <vector>

#include "dali_core/kernels/convolution/convolution.hpp"
#include "dali_core/kernels/convolution/filter_task.hpp"
#include "dali_core/kernels/convolution/per_axis_argument.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

// What is found out from shapes and arguments alone. The filter and what lies outside may be on a
// device.
struct FilterResult : Inferred {
  DataAxes axes;
  int64_t num_frames = -1;  // of all inputs together; negative: there are none
  bool repeats_input = false;
  bool has_frames = false;  // the filter, its anchor or the fill value
  int64_t window[3] = {1, 1, 1};
  int64_t output_extents[3] = {1, 1, 1};
  std::vector<std::array<int64_t, 3>> anchors;  // one, or one for each frame

  int64_t num_planes() const { return axes.num_planes * (repeats_input ? num_frames : 1); }
  int64_t frame_of(int64_t plane) const {
    return repeats_input ? plane / axes.num_planes : axes.frame_of(plane);
  }
  const std::array<int64_t, 3>& anchor_of(int64_t frame) const {
    return anchors[anchors.size() > 1 ? static_cast<size_t>(frame) : 0];
  }
  int64_t window_size() const { return window[0] * window[1] * window[2]; }
  int64_t output_size() const {
    return output_extents[0] * output_extents[1] * output_extents[2] * axes.channels;
  }
};

class FilterOperator : public TaskOperator<FilterOperator> {
 public:
  struct Tasks : KernelTasks<FilterTask> {
    void launch(DeviceBatch& batch) const {
      KernelTasks<FilterTask>::launch(batch, "filter_images");
    }
  };

  explicit FilterOperator(const OperatorConfig& config);

  FilterResult infer(const SampleContext& sample) const;
  void run(SampleContext& sample) const override;
  void add(const FilterResult& result, TaskData& data, Tasks& tasks) const;

 private:
  std::array<int64_t, 3> anchor_of(const SampleContext& sample, const FilterResult& result,
                                   int64_t frame) const;

  PerAxisArgument<int64_t> anchor_;
  Border border_;
  bool valid_;
  DataType dtype_;
};

}  // namespace dali_core
