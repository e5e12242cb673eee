#include "dali_core/device_batch.hpp"

namespace dali_core {

class PermuteBatch : public Operator {
 public:
  explicit PermuteBatch(const OperatorConfig& config) : indices_(config, "indices") {}

  bool reads_batch() const override { return true; }

  void run(SampleContext& sample) const override {
    const int64_t index = index_for(sample);
    const Tensor& chosen = sample.input_of_sample(0, static_cast<int>(index));
    if (chosen.type == DataType::kNone)
      throw std::runtime_error("sample " + std::to_string(index) +
                               ", which indices refer to, must be good (it failed before). Choose "
                               "another one.");
    sample.set_source(chosen.source);
    sample.forward(0, chosen);
  }

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      batch.forward(0, i, batch.input(0, static_cast<int>(index_for(sample))));
    });
  }

 private:
  int64_t index_for(const SampleContext& sample) const {
    const int64_t index = number_for(sample);
    if (index < 0 || index >= sample.batch_size())
      throw std::invalid_argument(
          "indices must be from 0 to " + std::to_string(sample.batch_size() - 1) +
          ", numbers of samples in the batch (got " + std::to_string(index) + "). Count from 0.");
    return index;
  }

  int64_t number_for(const SampleContext& sample) const {
    std::vector<int64_t> storage;
    const std::vector<int64_t>& indices = indices_.at(sample, storage);
    if (indices.size() == 1) return indices.front();
    if (!indices_.is_constant())
      throw std::invalid_argument("indices must be one number a sample (got " +
                                  std::to_string(indices.size()) + "). Pass scalars.");
    if (static_cast<int64_t>(indices.size()) != sample.batch_size())
      throw std::invalid_argument("indices must be one number, or one for each of the " +
                                  std::to_string(sample.batch_size()) + " samples (got " +
                                  std::to_string(indices.size()) +
                                  "). Pass as many as the batch has samples.");
    return indices[static_cast<size_t>(sample.index_in_batch())];
  }

  ListArgument<int64_t> indices_;
};

DALI_CORE_REGISTER_OPERATOR("permute_batch", PermuteBatch)

}  // namespace dali_core
