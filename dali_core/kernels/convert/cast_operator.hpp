// Operators that convert elements to another type.
#pragma once

#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/convert/cast.hpp"
#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

inline int64_t cast_threads(const CastTask& task) {
  return blocks_for(num_groups(task.count, kGroup - 1), kCastGroups);
}

// `infer` says to which type.
template <typename Self>
class CastOperator : public KernelOperator<Self, CastTask> {
 public:
  static constexpr auto kKernel = "cast_elements";

  CastTask task(const Inferred& result, TaskData& data) const {
    const Tensor input = data.input();
    return {input.data, data.output().data, input.num_elements(), input.type, result.type};
  }

  static int64_t threads_for(const CastTask& task) { return cast_threads(task); }

  static void compute(const CastTask& task) {
    convert_elements(task.in, task.from, task.out, task.to, task.count);
  }

 protected:
  // Nothing is copied if the input has the type already.
  static Inferred cast_to(DataType type, const Tensor& input) {
    return {type, input.shape, input.layout, input.type == type ? 0 : -1};
  }
};

}  // namespace dali_core
