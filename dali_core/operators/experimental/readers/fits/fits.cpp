// The indices of the files that fn.experimental.readers.fits reads.
#include <memory>
#include <string>

#include "dali_core/native_io/files/path_list.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class FitsIndices : public Operator {
 public:
  explicit FitsIndices(const OperatorConfig& config)
      : reader_(config.reader), paths_(paths_of(config)) {}

  void run(SampleContext& sample) const override {
    const int64_t index = sample.reader_index(reader_);
    sample.set_source(std::make_shared<const std::string>(paths_->path(index)));
    *sample.output(0, DataType::kInt64, {}).as<int64_t>() = index;
  }

 private:
  int reader_;
  std::shared_ptr<const PathList> paths_;
};

DALI_CORE_REGISTER_OPERATOR("experimental.readers.fits.indices", FitsIndices)

}  // namespace dali_core
