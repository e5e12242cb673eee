#include "dali_core/operators/cast/cast.hpp"

#include "dali_core/convert_elements.hpp"
#include "dali_core/image_chain.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/operators/cast/cast_tensor.hpp"

namespace dali_core {
namespace {

// Enumerations, whose numbers are part of the public API (`types.DALIDataType`), are integers.
DataType type_of_numbers(DataType type) {
  constexpr int first = 20;  // IMAGE_TYPE
  constexpr int last = 22;   // INTERP_TYPE
  const int number = static_cast<int>(type);
  return number >= first && number <= last ? DataType::kInt32 : type;
}

}  // namespace

DataType cast_type(const OperatorConfig& config) {
  const DataType type = type_of_numbers(config.get<DataType>("dtype"));
  if (size_of(type) == 0)
    throw std::invalid_argument("dtype must be a type of numbers (got number " +
                                std::to_string(static_cast<int>(type)) +
                                "). Use a type such as types.FLOAT.");
  return type;
}

void cast_tensor(SampleContext& sample, DataType type) {
  const Tensor& input = sample.input(0);
  if (input.type == type) {
    sample.forward(0, input);
    return;
  }
  Tensor& output = sample.output(0, type, input.shape, input.layout);
  convert_elements(input.data, input.type, output.data, type, input.num_elements());
}

class Cast : public Operator, public PixelStep {
 public:
  explicit Cast(const OperatorConfig& config) : type_(cast_type(config)) {}

  void run(SampleContext& sample) const override { cast_tensor(sample, type_); }

 private:
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("cast", Cast)

}  // namespace dali_core
