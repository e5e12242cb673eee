#include <cstring>
#include <string>
#include <vector>

#include "dali_core/kernels/fill/filled_shape.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

// Memory that is handed out belongs to the user, so each sample gets its own copy.
class Constant : public TaskOperator<Constant> {
 public:
  using Tasks = RowCopies;

  explicit Constant(const OperatorConfig& config) : layout_(config.get<std::string>("layout")) {
    if (config.has("fdata"))
      prepare(config, config.get<std::vector<float>>("fdata"), DataType::kFloat);
    else
      prepare(config, config.get<std::vector<int64_t>>("idata"), DataType::kInt32);
  }

  Inferred infer(const SampleContext&) const { return {type_, shape_, layout_}; }

  void run(SampleContext& sample) const override {
    Tensor* const output = sample.output(infer(sample));
    if (!bytes_.empty()) std::memcpy(output->data, bytes_.data(), bytes_.size());
  }

  void add(const Inferred&, TaskData& data, Tasks& tasks) const {
    tasks.add(data.array(bytes_), data.output().data, data.output().num_bytes());
  }

 private:
  template <typename From>
  void prepare(const OperatorConfig& config, const std::vector<From>& values, DataType type) {
    type_ = config.get_or<DataType>("dtype", type);
    const auto given = static_cast<int64_t>(values.size());
    shape_ =
        config.has("shape") ? shape_of(config.get<std::vector<int64_t>>("shape")) : Shape{given};
    check_size(shape_, type_);
    const int64_t count = shape_.num_elements();
    if (given != 1 && given != count)
      throw std::invalid_argument(
          "fdata or idata must be one number or as many as shape has (got " +
          std::to_string(given) + " for shape " + to_string(shape_) + "). Pass a shape that fits.");
    check_layout(layout_, shape_);
    const auto num_bytes = static_cast<size_t>(count * size_of(type_));
    require_host_memory(num_bytes);
    bytes_.resize(num_bytes);
    visit_type(type_, [&](auto zero) {
      using To = decltype(zero);
      To* const out = reinterpret_cast<To*>(bytes_.data());
      for (int64_t i = 0; i < count; ++i)
        out[i] = convert<To>(values[given == 1 ? 0 : static_cast<size_t>(i)]);
    });
  }

  DataType type_;
  Shape shape_;
  Layout layout_;
  std::vector<char> bytes_;
};

DALI_CORE_REGISTER_OPERATOR("constant", Constant)

}  // namespace dali_core
