#include <algorithm>
#include <string>
#include <vector>

#include "dali_core/kernels/audio/audio_inputs.hpp"
#include "dali_core/kernels/audio/cosine_transform.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

struct Matrix {
  CosineRule rule{};
  int64_t num_rows = 0, count = 0;
  std::vector<float> entries;
};

}  // namespace

class Mfcc : public Operator {
 public:
  explicit Mfcc(const OperatorConfig& config)
      : num_coefficients_(config.get<int64_t>("n_mfcc")),
        axis_(config.get<int64_t>("axis")),
        rule_{config.get<int>("dct_type"), config.get<bool>("normalize"),
              config.get<float>("lifter")} {
    if (rule_.type == 1 && rule_.is_orthonormal)
      throw std::invalid_argument(
          "normalize must not be set where dct_type is 1 (got both). It has no orthonormal basis.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    check_float(input);
    const int axis = checked_axis(axis_, input.shape, false);
    const AroundAxis around(input.shape, axis);
    if (rule_.type == 1 && around.extent == 1)
      throw std::invalid_argument(
          "dct_type 1 needs at least 2 frequencies (got 1). Use another type.");
    Shape shape = input.shape;
    shape[axis] = std::min(num_coefficients_, around.extent);
    Tensor& output = sample.output(0, DataType::kFloat, shape, input.layout);
    if (output.num_elements() == 0) return;
    apply_matrix(matrix_for(shape[axis], around.extent), shape[axis], around.extent, around.outer,
                 around.inner, input.as<float>(), output.as<float>());
  }

 private:
  // The number of frequencies comes with the samples; each thread keeps the matrix of the last
  // ones.
  const std::vector<float>& matrix_for(int64_t num_rows, int64_t count) const {
    static thread_local Matrix last;
    if (last.num_rows != num_rows || last.count != count || !(last.rule == rule_))
      last = {rule_, num_rows, count, cosine_matrix(rule_, num_rows, count)};
    return last.entries;
  }

  int64_t num_coefficients_, axis_;
  CosineRule rule_;
};

DALI_CORE_REGISTER_OPERATOR("mfcc", Mfcc)

}  // namespace dali_core
