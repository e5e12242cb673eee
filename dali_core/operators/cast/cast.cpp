#include "dali_core/kernels/convert/cast_operator.hpp"

namespace dali_core {

class Cast : public CastOperator<Cast>, public PixelStep {
 public:
  explicit Cast(const OperatorConfig& config)
      : type_(type_of_numbers(config.get<DataType>("dtype"))) {}

  Inferred infer(const SampleContext& sample) const { return cast_to(type_, sample.input(0)); }

 private:
  // Enumerations, whose numbers are part of the public API (`types.DALIDataType`), are integers.
  static DataType type_of_numbers(DataType type) {
    constexpr int first = 20;  // IMAGE_TYPE
    constexpr int last = 22;   // INTERP_TYPE
    const int number = static_cast<int>(type);
    return number >= first && number <= last ? DataType::kInt32 : type;
  }

  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("cast", Cast)

}  // namespace dali_core
