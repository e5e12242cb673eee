// fn.batch_permutation: random orders and random indices.
#include <cstdint>

#include "dali_core/kernels/random/random_order.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/philox.hpp"

namespace dali_core {

// An index below `size`; not `self` if that is to be avoided.
inline int32_t random_index(int32_t size, int32_t self, bool avoids_self, RandomStream& random) {
  if (!avoids_self || size == 1) return random.next_below(static_cast<uint32_t>(size));
  const auto index = static_cast<int32_t>(random.next_below(static_cast<uint32_t>(size - 1)));
  return index < self ? index : index + 1;
}

class BatchPermutation : public Operator {
 public:
  explicit BatchPermutation(const OperatorConfig& config)
      : repeats_(config.get<bool>("allow_repetitions")),
        no_fixed_points_(config.get<bool>("no_fixed_points")),
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
