#include "dali_core/operators/copy/copy.hpp"

#include <cstring>

#include "dali_core/operator.hpp"

namespace dali_core {

class Copy : public Operator {
 public:
  explicit Copy(const OperatorConfig&) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    Tensor& output = sample.output(0, input.type, input.shape, input.layout);
    if (input.num_bytes() > 0)
      std::memcpy(output.data, input.as<uint8_t>() + copy_source(0),
                  static_cast<size_t>(input.num_bytes()));
  }
};

DALI_CORE_REGISTER_OPERATOR("copy", Copy)

}  // namespace dali_core
