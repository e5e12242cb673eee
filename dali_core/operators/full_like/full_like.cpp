#include "dali_core/convert_elements.hpp"
#include "dali_core/fill.hpp"

namespace dali_core {

class FullLike : public Operator {
 public:
  explicit FullLike(const OperatorConfig&) {}

  void run(SampleContext& sample) const override {
    const Tensor& like = sample.input(0);
    const Tensor& value = sample.input(1);
    Tensor& output = sample.output(0, like.type, like.shape, like.layout);
    const Repeated repeated(value, output);
    if (value.type == like.type) return repeated.write(value.data, output.data, size_of(like.type));
    const int64_t count = value.num_elements();
    void* const converted = sample.scratch<uint64_t>(0, static_cast<size_t>(count));
    convert_elements(value.data, value.type, converted, like.type, count);
    repeated.write(converted, output.data, size_of(like.type));
  }
};

DALI_CORE_REGISTER_OPERATOR("full_like", FullLike)

}  // namespace dali_core
