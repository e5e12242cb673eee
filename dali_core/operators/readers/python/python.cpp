// The indices of what fn.readers.python and fn.readers.parquet fetch.
#include <memory>
#include <string>

#include "dali_core/operator.hpp"

namespace dali_core {

class SampleIndices : public Operator {
 public:
  explicit SampleIndices(const OperatorConfig& config) : reader_(config.reader) {}

  void run(SampleContext& sample) const override {
    const int64_t index = sample.reader_index(reader_);
    sample.set_source(std::make_shared<const std::string>("index " + std::to_string(index)));
    *sample.output(0, DataType::kInt64, {}).as<int64_t>() = index;
  }

 private:
  int reader_;
};

DALI_CORE_REGISTER_OPERATOR("readers.python.indices", SampleIndices)

// Documents tell operators by the names of their native code.
class RowIndices : public SampleIndices {
 public:
  using SampleIndices::SampleIndices;
};

DALI_CORE_REGISTER_OPERATOR("readers.parquet.indices", RowIndices)

}  // namespace dali_core
