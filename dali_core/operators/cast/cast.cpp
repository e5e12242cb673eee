#include "dali_core/operators/cast/cast.hpp"

#include "dali_core/operator.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/operators/cast/cast_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

class Cast : public Operator {
 public:
  explicit Cast(const OperatorConfig& config) : type_(config.get<DataType>("dtype")) {
    if (size_of(type_) == 0)
      throw std::invalid_argument("dtype must be a type of numbers (got number " +
                                  std::to_string(static_cast<int>(type_)) +
                                  "). Use a type such as types.FLOAT.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    if (input.type == type_) {
      sample.forward(0, input);
      return;
    }
    Tensor& output = sample.output(0, type_, input.shape, input.layout);
    DC_SIMD_DISPATCH(cast_elements, input.data, input.type, output.data, type_,
                     input.num_elements());
  }

 private:
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("cast", Cast)

}  // namespace dali_core
