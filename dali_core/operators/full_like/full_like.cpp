#include "dali_core/kernels/convert/cast_operator.hpp"
#include "dali_core/kernels/fill/device_fill.hpp"

namespace dali_core {

class FullLike : public TaskOperator<FullLike> {
 public:
  explicit FullLike(const OperatorConfig&) {}

  struct Result : Inferred {
    Repeated repeated;
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& like = sample.input(0);
    return {{like.type, like.shape, like.layout}, Repeated(sample.input(1), like.shape)};
  }

  void run(SampleContext& sample) const override {
    const Tensor& value = sample.input(1);
    const Result result = infer(sample);
    const Tensor& output = *sample.output(result);
    const int64_t bytes = size_of(output.type);
    if (value.type == output.type) return result.repeated.write(value.data, output.data, bytes);
    const int64_t count = value.num_elements();
    void* const converted = sample.scratch<uint64_t>(0, static_cast<size_t>(count));
    convert_elements(value.data, value.type, converted, output.type, count);
    result.repeated.write(converted, output.data, bytes);
  }

  struct Tasks {
    KernelTasks<CastTask> casts;
    Gathers gathers;

    void launch(DeviceBatch& batch) const {
      casts.launch(batch, "cast_elements");
      gathers.launch(batch);
    }
  };

  void add(const Result& result, TaskData& data, Tasks& tasks) const {
    const Tensor& output = data.output();
    const Tensor value = data.input(1);
    const void* elements = value.data;
    if (value.type != output.type) {
      const int64_t count = value.num_elements();
      void* const converted = data.scratch<char>(count * size_of(output.type));
      const CastTask task{elements, converted, count, value.type, output.type};
      tasks.casts.add(task, cast_threads(task));
      elements = converted;
    }
    tasks.gathers.add(repeated_on_device(result.repeated, elements, output));
  }
};

DALI_CORE_REGISTER_OPERATOR("full_like", FullLike)

}  // namespace dali_core
