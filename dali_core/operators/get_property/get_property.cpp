#include "dali_core/operators/get_property/get_property.hpp"

#include <algorithm>
#include <stdexcept>

#include "dali_core/operator.hpp"

namespace dali_core {

class GetProperty : public Operator {
 public:
  explicit GetProperty(const OperatorConfig& config) {
    const std::string key = config.get<std::string>("key");
    if (key == "layout")
      property_ = Property::kLayout;
    else if (key == "source_info")
      property_ = Property::kSource;
    else
      throw std::invalid_argument("key must be \"layout\" or \"source_info\" (got \"" + key +
                                  "\"). Use one of them.");
  }

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
