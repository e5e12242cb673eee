// The indices of the samples that readers in Python fetch.
#include <memory>
#include <string>

#include "dali_core/native_io/files/path_list.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class SampleIndices : public Operator {
 public:
  explicit SampleIndices(const OperatorConfig& config)
      : reader_(config.reader),
        names_(config.has("sample_names") ? paths_of(config, "sample_names") : nullptr) {}

  void run(SampleContext& sample) const override {
    const int64_t index = sample.reader_index(reader_);
    sample.set_source(std::make_shared<const std::string>(
        names_ ? names_->path(index) : "index " + std::to_string(index)));
    *sample.output(0, DataType::kInt64, {}).as<int64_t>() = index;
  }

 private:
  int reader_;
  std::shared_ptr<const PathList> names_;
};

DALI_CORE_REGISTER_OPERATOR("readers.python.indices", SampleIndices)

}  // namespace dali_core
