// fn.element_extract: frames of a sequence as tensors that share its memory.
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dali_core/kernels/gather/sequence_rearrange.hpp"

namespace dali_core {

class ElementExtract : public ForwardingOperator {
 public:
  explicit ElementExtract(const OperatorConfig& config)
      : elements_(config.get<std::vector<int64_t>>("element_map")) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const FrameKind kind = frame_kind(input);
    const int64_t bytes = kind.shape.num_elements() * size_of(input.type);
    for (size_t i = 0; i < elements_.size(); ++i) {
      check_frame(elements_[i], input, "element_map");
      Tensor& frame = sample.forward(static_cast<int>(i), input, kind.shape, kind.layout);
      frame.data = static_cast<char*>(input.data) + elements_[i] * bytes;
    }
  }

 private:
  std::vector<int64_t> elements_;
};

DALI_CORE_REGISTER_OPERATOR("element_extract", ElementExtract)

}  // namespace dali_core
