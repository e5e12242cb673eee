#include "dali_core/kernels/histogram/equalize_image.hpp"

namespace dali_core {

class Equalize : public Operator {
 public:
  explicit Equalize(const OperatorConfig&) {}

  void run(SampleContext& sample) const override { equalize_image(sample); }
};

DALI_CORE_REGISTER_OPERATOR("equalize", Equalize)

}  // namespace dali_core
