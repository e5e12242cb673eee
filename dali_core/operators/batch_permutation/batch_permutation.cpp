#include "dali_core/operators/batch_permutation/batch_permutation.hpp"

#include "dali_core/operator.hpp"

namespace dali_core {

class BatchPermutation : public Operator {
 public:
  explicit BatchPermutation(const OperatorConfig& config)
      : repeats_(config.get_or<int>("allow_repetitions", 0) != 0),
        no_fixed_points_(config.get_or<int>("no_fixed_points", 0) != 0),
        seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const int32_t size = sample.batch_size();
    const int32_t self = sample.index_in_batch();
    Tensor& output = sample.output(0, DataType::kInt32, Shape());
    if (repeats_) {
      RandomStream random = sample.random(seed_);
      *output.as<int32_t>() = random_index(size, self, no_fixed_points_, random);
      return;
    }
    // Every sample draws the order of the batch for itself: that costs less than to wait for
    // another one, except in batches of thousands.
    RandomStream random(seed_, sample.batch_key());
    int32_t* const order = sample.scratch<int32_t>(0, static_cast<size_t>(size));
    random_order(order, size, no_fixed_points_, random);
    *output.as<int32_t>() = order[self];
  }

 private:
  bool repeats_;
  bool no_fixed_points_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("batch_permutation", BatchPermutation)

}  // namespace dali_core
