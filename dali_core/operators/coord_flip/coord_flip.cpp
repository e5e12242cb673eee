#include <string>

#include "dali_core/kernels/boxes/points.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class CoordinateFlip : public KernelOperator<CoordinateFlip, CoordinateTask> {
 public:
  static constexpr auto kKernel = "flip_coordinates";

  explicit CoordinateFlip(const OperatorConfig& config)
      : flip_{{config, "flip_x"}, {config, "flip_y"}, {config, "flip_z"}},
        center_{{config, "center_x"}, {config, "center_y"}, {config, "center_z"}},
        layout_(config.get_or<std::string>("layout", "")) {
    if (layout_.empty()) layout_ = kLetters;
    for (size_t i = 0; i < layout_.size(); ++i)
      if (std::string(kLetters).find(layout_[i]) == std::string::npos ||
          layout_.find(layout_[i]) != i)
        throw std::invalid_argument("layout must have the letters x, y and z once each (got \"" +
                                    layout_ + "\"). Name the coordinates, such as \"xy\".");
  }

  Inferred infer(const SampleContext& sample) const {
    const Tensor& points = sample.input(0);
    const auto most = static_cast<int64_t>(layout_.size());
    if (points.type != DataType::kFloat || points.shape.ndim != 2 || points.shape[1] > most)
      throw std::invalid_argument("points must be float32 of shape (N, D), with D up to " +
                                  std::to_string(most) + " (got " + name_of(points.type) +
                                  " of shape " + to_string(points.shape) +
                                  "). Cast or reshape them, or name all coordinates in layout.");
    return {points.type, points.shape, points.layout};
  }

  CoordinateTask task(const Inferred&, TaskData& data) const {
    const Tensor points = data.input();
    CoordinateTask task{points.as<float>(),
                        data.output().as<float>(),
                        points.num_elements(),
                        points.shape[1],
                        {},
                        {}};
    for (int64_t i = 0; i < task.ndim; ++i) {
      const size_t axis = std::string(kLetters).find(layout_[static_cast<size_t>(i)]);
      const bool is_flipped = flip_[axis].at(data.sample()) != 0;
      task.factor[i] = is_flipped ? -1.0f : 1.0f;
      task.offset[i] = is_flipped ? 2 * center_[axis].at(data.sample()) : 0.0f;
    }
    return task;
  }

  static int64_t threads_for(const CoordinateTask& task) { return task.count; }

  static void compute(const CoordinateTask& task) {
    for (int64_t i = 0; i < task.count; ++i) flip_coordinate(task, i);
  }

 private:
  static constexpr const char* kLetters = "xyz";

  Argument<int> flip_[3];
  Argument<float> center_[3];
  std::string layout_;
};

DALI_CORE_REGISTER_OPERATOR("coord_flip", CoordinateFlip)

}  // namespace dali_core
