#include <algorithm>
#include <string>
#include <type_traits>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Blocks stay in the cache while they are converted, filtered and converted back.
constexpr int64_t kBlock = 2048;

// In single precision, or in double where single precision cannot hold the numbers.
template <typename Number>
void filter_signal(const Tensor& input, Number coefficient, const std::string& border,
                   Tensor& output) {
  constexpr DataType type = data_type_of<Number>();
  const int64_t count = input.num_elements();
  Number block[kBlock + 1], result[kBlock];
  Number first[2] = {};
  convert_elements(input.data, input.type, first, type, std::min<int64_t>(count, 2));
  block[0] = border == "zero" ? Number(0) : first[border == "reflect" && count > 1 ? 1 : 0];
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t length = std::min(kBlock, count - start);
    convert_elements(element_at(input.data, input.type, start), input.type, block + 1, type,
                     length);
    for (int64_t i = 0; i < length; ++i) result[i] = block[i + 1] - coefficient * block[i];
    convert_elements(result, type, element_at(output.data, output.type, start), output.type,
                     length);
    block[0] = block[length];
  }
}

bool is_wide(DataType type) {
  return type == DataType::kFloat64 || type == DataType::kInt64 || type == DataType::kUInt64 ||
         type == DataType::kInt32 || type == DataType::kUInt32;
}

}  // namespace

class PreemphasisFilter : public Operator {
 public:
  explicit PreemphasisFilter(const OperatorConfig& config)
      : coefficient_(config, "preemph_coeff"),
        border_(config.get<std::string>("border")),
        type_(config.get<DataType>("dtype")) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    Tensor& output = sample.output(0, type_, input.shape, input.layout);
    if (input.num_elements() == 0) return;
    const float coefficient = coefficient_.at(sample);
    if (is_wide(input.type))
      filter_signal<double>(input, coefficient, border_, output);
    else
      filter_signal<float>(input, coefficient, border_, output);
  }

 private:
  Argument<float> coefficient_;
  std::string border_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("preemphasis_filter", PreemphasisFilter)

}  // namespace dali_core
