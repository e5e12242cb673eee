#include <cstring>
#include <vector>

#include "dali_core/kernels/gather/device_gather.hpp"
#include "dali_core/kernels/gather/sequence_rearrange.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class SequenceRearrange : public TaskOperator<SequenceRearrange> {
 public:
  using Tasks = Gathers;

  explicit SequenceRearrange(const OperatorConfig& config) : order_(config, "new_order") {}

  struct Result : Inferred {
    std::vector<int64_t> order;  // numbers of frames
    int64_t frame_elements = 0;
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    const FrameKind frame = frame_kind(input);
    std::vector<int64_t> storage;
    Result result{{input.type, input.shape, input.layout},
                  order_.at(sample, storage),
                  frame.shape.num_elements()};
    for (const int64_t number : result.order) check_frame(number, input, "new_order");
    result.shape[0] = static_cast<int64_t>(result.order.size());
    return result;
  }

  void run(SampleContext& sample) const override {
    const Result result = infer(sample);
    const auto bytes = static_cast<size_t>(result.frame_elements * size_of(result.type));
    char* to = sample.output(result)->as<char>();
    if (bytes == 0) return;
    for (const int64_t number : result.order) {
      std::memcpy(to, sample.input(0).as<char>() + static_cast<size_t>(number) * bytes, bytes);
      to += bytes;
    }
  }

  void add(const Result& result, TaskData& data, Tasks& tasks) const {
    const Tensor input = data.input();
    Gather gather;
    gather.element_bytes = gather.strides[0] = size_of(input.type);
    gather.extents = {result.frame_elements};
    char* to = data.output().as<char>();
    for (const int64_t number : result.order) {
      gather.in = input.as<char>() + number * result.frame_elements * gather.element_bytes;
      gather.out = to;
      tasks.add(gather);
      to += result.frame_elements * gather.element_bytes;
    }
  }

 private:
  ListArgument<int64_t> order_;
};

DALI_CORE_REGISTER_OPERATOR("sequence_rearrange", SequenceRearrange)

}  // namespace dali_core
