// The indices of the files that fn.experimental.readers.fits reads.
#include <memory>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

class FitsIndices : public Operator {
 public:
  explicit FitsIndices(const OperatorConfig& config) : reader_(config.reader) {
    for (const std::string& file : config.get<std::vector<std::string>>("files"))
      files_.push_back(std::make_shared<const std::string>(file));
  }

  void run(SampleContext& sample) const override {
    const int64_t index = sample.reader_index(reader_);
    sample.set_source(files_[static_cast<size_t>(index)]);
    *sample.output(0, DataType::kInt64, {}).as<int64_t>() = index;
  }

 private:
  int reader_;
  std::vector<std::shared_ptr<const std::string>> files_;
};

DALI_CORE_REGISTER_OPERATOR("experimental.readers.fits.indices", FitsIndices)

}  // namespace dali_core
