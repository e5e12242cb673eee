#include "dali_core/filled_shape.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Memory that is handed out belongs to the user, so each sample gets its own copy.
class Constant : public Operator {
 public:
  explicit Constant(const OperatorConfig& config)
      : is_float_(config.has("fdata")), layout_(config.get_or<std::string>("layout", "")) {
    if (is_float_ == config.has("idata"))
      throw std::invalid_argument("one of fdata and idata must be given (got " +
                                  std::string(is_float_ ? "both" : "none") +
                                  "). Pass floating point numbers or integers.");
    if (is_float_)
      floats_ = config.get<std::vector<float>>("fdata");
    else
      integers_ = config.get<std::vector<int64_t>>("idata");
    type_ = config.get_or<DataType>("dtype", is_float_ ? DataType::kFloat : DataType::kInt32);
    const auto count = static_cast<int64_t>(is_float_ ? floats_.size() : integers_.size());
    shape_ = config.has("shape") ? checked_shape(config.get<std::vector<int64_t>>("shape"))
                                 : Shape{count};
    if (count != 1 && count != shape_.num_elements())
      throw std::invalid_argument(
          "fdata or idata must be one number or as many as shape has (got " +
          std::to_string(count) + " for shape " + to_string(shape_) + "). Pass a shape that fits.");
    check_layout(layout_, shape_);
  }

  void run(SampleContext& sample) const override {
    Tensor& output = sample.output(0, type_, shape_, layout_);
    if (is_float_)
      write(output, floats_);
    else
      write(output, integers_);
  }

 private:
  template <typename From>
  static void write(Tensor& output, const std::vector<From>& values) {
    const int64_t count = output.num_elements();
    const size_t step = values.size() == 1 ? 0 : 1;
    visit_type(output.type, [&](auto zero) {
      using To = decltype(zero);
      To* const out = output.as<To>();
      for (int64_t i = 0; i < count; ++i)
        out[i] = convert<To>(values[static_cast<size_t>(i) * step]);
    });
  }

  bool is_float_;
  std::vector<float> floats_;
  std::vector<int64_t> integers_;
  DataType type_;
  Shape shape_;
  Layout layout_;
};

DALI_CORE_REGISTER_OPERATOR("constant", Constant)

}  // namespace dali_core
