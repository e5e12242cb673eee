// fn.paste: extents of the canvas, and where the image begins.
#include <algorithm>
#include <cstdint>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/paste/paste_tasks.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

inline int64_t canvas_extent(int64_t extent, float ratio, float least) {
  const auto scaled = static_cast<int64_t>(static_cast<float>(extent) * ratio);
  const auto smallest = static_cast<int64_t>(least);
  return scaled > smallest ? scaled : smallest;
}

inline int64_t paste_start(int64_t canvas, int64_t extent, float position) {
  return static_cast<int64_t>(position * static_cast<float>(canvas - extent));
}

namespace {

// Of a canvas; a larger one is a mistake, and would not fit into memory.
constexpr float kLargestExtent = 1 << 24;

}  // namespace

class Paste : public KernelOperator<Paste, PasteTask>, public EachFrame {
 public:
  static constexpr auto kKernel = "paste_regions";

  explicit Paste(const OperatorConfig& config)
      : ratio_(config, "ratio"),
        x_(config, "paste_x"),
        y_(config, "paste_y"),
        least_(config, "min_canvas_size") {
    for (int64_t value : config.get<std::vector<int64_t>>("fill_value"))
      fill_.push_back(static_cast<uint8_t>(value));
  }

  struct Result : Inferred {
    int64_t top;
    int64_t left;
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& image = sample.input(0);
    check_image(image);
    const float ratio = ratio_.at(sample);
    const float least = least_.at(sample);
    if (!(ratio >= 1))
      throw std::invalid_argument("ratio must be at least 1 (got " + std::to_string(ratio) +
                                  "). The canvas holds the whole image.");
    if (!(least <= kLargestExtent) ||
        !(ratio * static_cast<float>(std::max(image.shape[0], image.shape[1])) <= kLargestExtent))
      throw std::invalid_argument("the canvas must have extents below " +
                                  std::to_string(static_cast<int64_t>(kLargestExtent)) +
                                  " (got ratio " + std::to_string(ratio) + " and min_canvas_size " +
                                  std::to_string(least) + "). Use smaller numbers.");
    const int64_t height = canvas_extent(image.shape[0], ratio, least);
    const int64_t width = canvas_extent(image.shape[1], ratio, least);
    const int64_t top = paste_start(height, image.shape[0], position(y_, "paste_y", sample));
    const int64_t left = paste_start(width, image.shape[1], position(x_, "paste_x", sample));
    const bool stays = height == image.shape[0] && width == image.shape[1];
    return {
        {image.type, {height, width, image.shape[2]}, Layout("HWC"), stays ? 0 : -1}, top, left};
  }

  PasteTask task(const Result& result, TaskData& data) const {
    const Tensor image = data.input();
    const int64_t channels = image.shape[2];
    const int64_t image_row = image.shape[1] * channels;
    PasteTask task =
        canvas_task(data.output(), result.shape[1] * channels, fill_, data.array(fill_));
    task.num_regions = 1;
    task.first = {image.data,
                  image.num_bytes(),
                  0,
                  image_row,
                  result.top,
                  result.top + image.shape[0],
                  result.left * channels,
                  result.left * channels + image_row};
    return task;
  }

  static int64_t threads_for(const PasteTask& task) { return paste_threads(task); }

  static void compute(const PasteTask& task) {
    fill_canvas(task);
    paste_region(task, task.first);
  }

 private:
  void check_image(const Tensor& image) const {
    if (image.type != DataType::kUInt8)
      throw std::invalid_argument("the input must be of type uint8 (got " +
                                  std::string(name_of(image.type)) + "). Use fn.cast.");
    if (image.shape.ndim != 3 || image_layout(image, "FHWC") != Layout("HWC"))
      throw std::invalid_argument("the input's layout must be \"HWC\" (got \"" +
                                  std::string(image.layout.c_str()) + "\" for shape " +
                                  to_string(image.shape) +
                                  "). Reorder the dimensions before this operator.");
    if (fill_.size() != 1 && static_cast<int64_t>(fill_.size()) != image.shape[2])
      throw std::invalid_argument("fill_value must be one number or one for each of the " +
                                  std::to_string(image.shape[2]) + " channels (got " +
                                  std::to_string(fill_.size()) +
                                  "). Pass as many as there are channels.");
  }

  static float position(const Argument<float>& argument, const char* name,
                        const SampleContext& sample) {
    const float value = argument.at(sample);
    if (!(value >= 0 && value <= 1))
      throw std::invalid_argument(std::string(name) + " must be from 0 to 1 (got " +
                                  std::to_string(value) +
                                  "). It is a share of the room beside the image.");
    return value;
  }

  Argument<float> ratio_, x_, y_, least_;
  std::vector<uint8_t> fill_;
};

DALI_CORE_REGISTER_OPERATOR("paste", Paste)

}  // namespace dali_core
