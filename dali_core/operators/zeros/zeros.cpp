#include "dali_core/kernels/fill/device_fill.hpp"
#include "dali_core/kernels/fill/filled_shape.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

// fn.zeros, fn.ones, fn.zeros_like and fn.ones_like: shape and layout are arguments, or those of an
// input.
class Zeros : public TaskOperator<Zeros> {
 public:
  using Tasks = Gathers;

  explicit Zeros(const OperatorConfig& config)
      : shape_(config),
        is_like_(config.num_inputs > 0),
        type_(config.get_or<DataType>("dtype", DataType::kNone)),
        value_(config.get<float>("value")) {}

  struct Result : Inferred {
    std::vector<uint64_t> bits;  // an element
  };

  Result infer(const SampleContext& sample) const {
    const bool takes_type = is_like_ && type_ == DataType::kNone;
    const DataType type = takes_type ? sample.input(0).type : type_;
    const std::vector<uint64_t> bits{fill_bits(type, value_)};
    if (!is_like_) return {{type, shape_.shape(sample), shape_.layout()}, bits};
    return {{type, sample.input(0).shape, sample.input(0).layout}, bits};
  }

  void run(SampleContext& sample) const override {
    const Result result = infer(sample);
    const Tensor& output = *sample.output(result);
    fill_elements(output.data, output.num_elements(), size_of(output.type), result.bits[0]);
  }

  void add(const Result& result, TaskData& data, Tasks& tasks) const {
    Gather gather;
    gather.in = data.array(result.bits);
    gather.out = data.output().data;
    gather.element_bytes = size_of(result.type);
    gather.extents = result.shape;
    tasks.add(gather);
  }

 private:
  FilledShape shape_;
  bool is_like_;
  DataType type_;
  float value_;
};

DALI_CORE_REGISTER_OPERATOR("zeros", Zeros)

}  // namespace dali_core
