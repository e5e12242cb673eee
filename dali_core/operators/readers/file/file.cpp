// fn.readers.file: reads one file of a list, and gives its label.
#include <memory>
#include <string>
#include <utility>

#include "dali_core/native_io/files/open_file.hpp"
#include "dali_core/native_io/files/path_list.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

class FileReader : public Operator {
 public:
  explicit FileReader(const OperatorConfig& config)
      : reader_(config.reader), storage_(config), paths_(paths_of(config)) {
    root_ = config.get<std::string>("file_root");
    if (config.get_or<int64_t>("read_ahead", 1) != 0)
      batches_ahead_ = config.get_or<int>("prefetch_queue_depth", 1);
  }

  int batches_ahead() const override { return batches_ahead_; }

  void run(SampleContext& sample) const override {
    LabeledPath found = paths_->at(sample.reader_index(reader_));
    const auto file = std::make_shared<const std::string>(std::move(found.path));
    sample.set_source(file);

    const OpenFile opened(joined_path(root_, *file), storage_);
    read_output(sample, 0, opened, 0, opened.size());
    *sample.output(1, DataType::kInt32, {1}).as<int32_t>() = found.label;
  }

 private:
  int reader_;
  Storage storage_;
  int batches_ahead_ = 0;
  std::string root_;
  std::shared_ptr<const PathList> paths_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("readers.file", FileReader)

}  // namespace dali_core
