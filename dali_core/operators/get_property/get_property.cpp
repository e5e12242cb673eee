// fn.get_property: which text a property is. There is nothing to compute on a device.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "dali_core/operator.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

enum class Property { kLayout, kSource };

inline std::string property_of(const Tensor& tensor, Property property) {
  if (property == Property::kLayout) return tensor.layout.c_str();
  return tensor.source ? *tensor.source : std::string();
}

class GetProperty : public Operator {
 public:
  explicit GetProperty(const OperatorConfig& config)
      : property_(config.get<std::string>("key") == "layout" ? Property::kLayout
                                                             : Property::kSource) {}

  void run(SampleContext& sample) const override {
    const std::string text = property_of(sample.input(0), property_);
    Tensor& output = sample.output(0, DataType::kUInt8, {static_cast<int64_t>(text.size())});
    std::copy(text.begin(), text.end(), output.as<char>());
  }

 private:
  Property property_;
};

DALI_CORE_REGISTER_OPERATOR("get_property", GetProperty)

}  // namespace dali_core
