// Helpers shared by fn.cat and fn.stack: checking an axis, and concatenating tensors along it.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

// `axis` counted from the front; negative numbers count from the last of `ndim` dimensions.
// Those from `ndim` to `last` are allowed as well.
inline int checked_axis(int64_t axis, int ndim, int last) {
  if (axis < -ndim || axis > last)
    throw std::invalid_argument("axis must be from " + std::to_string(-ndim) + " to " +
                                std::to_string(last) + " for inputs of " + std::to_string(ndim) +
                                " dimensions (got " + std::to_string(axis) +
                                "). Choose another one.");
  return static_cast<int>(axis);
}

// One letter, or 0 where `axis_name` is not given.
inline char axis_letter(const OperatorConfig& config) {
  if (!config.has("axis_name")) return 0;
  const auto name = config.get<std::string>("axis_name");
  if (name.size() != 1)
    throw std::invalid_argument("axis_name must be one letter (got \"" + name +
                                "\"). Pass a letter such as \"C\".");
  return name[0];
}

inline void check_same_kind(const SampleContext& sample) {
  const Tensor& first = sample.input(0);
  for (int i = 1; i < sample.num_inputs(); ++i) {
    const Tensor& other = sample.input(i);
    if (other.type != first.type || other.shape.ndim != first.shape.ndim)
      throw std::invalid_argument("inputs must have the same type and number of dimensions (got " +
                                  std::string(name_of(first.type)) + " of shape " +
                                  to_string(first.shape) + " and " + name_of(other.type) +
                                  " of shape " + to_string(other.shape) +
                                  "). Use fn.cast or fn.reshape.");
  }
}

// The result of joining inputs: each of `num_slices` parts has the next part of every input.
struct Joined : Inferred {
  int64_t num_slices = 1;
};

// Operators that concatenate their inputs. `infer` gives the axis.
template <typename Self>
class JoiningOperator : public TaskOperator<Self> {
 public:
  using Tasks = RowCopies;

  void run(SampleContext& sample) const override {
    const Joined joined = this->self().infer(sample);
    Tensor* const output = sample.output(joined);
    if (output == nullptr || output->num_bytes() == 0) return;
    TaskData data(sample, *output);
    each_copy(joined, data, [](const RowCopy& copy) {
      for (int64_t row = 0; row < copy.rows; ++row)
        std::memcpy(static_cast<char*>(copy.out) + row * copy.output_pitch,
                    static_cast<const char*>(copy.in) + row * copy.input_pitch,
                    static_cast<size_t>(copy.bytes));
    });
  }

  void add(const Joined& joined, TaskData& data, Tasks& tasks) const {
    each_copy(joined, data, [&](const RowCopy& copy) { tasks.add(copy); });
  }

 private:
  template <typename Function>
  static void each_copy(const Joined& joined, TaskData& data, Function&& function) {
    Tensor& output = data.output();
    const int64_t pitch = output.num_bytes() / joined.num_slices;
    char* place = output.as<char>();
    for (int k = 0; k < data.sample().num_inputs(); ++k) {
      const int64_t bytes = data.sample().input(k).num_bytes() / joined.num_slices;
      if (bytes == 0) continue;
      function(RowCopy{data.input(k).data, place, joined.num_slices, bytes, bytes, pitch});
      place += bytes;
    }
  }
};

}  // namespace dali_core
