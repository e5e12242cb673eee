// Operators that mix the channels of a pixel.
#pragma once

#include <cstdint>
#include <cstring>

#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/color/color_image.hpp"
#include "dali_core/kernels/color/color_matrix.hpp"
#include "dali_core/kernels/color/mix_task.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

// The loop of the host.
void mix_colors(const MixTask& task);

// `infer` returns the output's type, shape and layout, and the matrix.
template <typename Self>
class MixingOperator : public KernelOperator<Self, MixTask>, public PixelStep {
 public:
  static constexpr auto kKernel = "mix_colors";

  struct Result : Inferred {
    ColorMatrix matrix;
  };

  MixTask task(const Result& result, TaskData& data) const {
    const Tensor image = data.input();
    const int last = image.shape.ndim - 1;
    MixTask task{};
    task.in = image.data;
    task.out = data.output().data;
    task.from = image.type;
    task.to = result.type;
    task.input_channels = static_cast<int8_t>(image.shape[last]);
    task.output_channels = static_cast<int8_t>(result.shape[last]);
    task.pixels = image.num_elements() / task.input_channels;
    std::memcpy(task.factors, result.matrix.factors, sizeof task.factors);
    std::memcpy(task.offsets, result.matrix.offsets, sizeof task.offsets);
    return task;
  }

  static int64_t threads_for(const MixTask& task) { return blocks_for(task.pixels, kGroup); }

  static void compute(const MixTask& task) { mix_colors(task); }
};

}  // namespace dali_core
