// fn.readers.file: reads one file of a list, and gives its label.
#include <memory>
#include <string>
#include <vector>

#include "dali_core/kernels/files/open_file.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

class FileReader : public Operator {
 public:
  explicit FileReader(const OperatorConfig& config)
      : reader_(config.reader), labels_(config.get<std::vector<int64_t>>("labels")) {
    root_ = config.get<std::string>("file_root");
    if (config.get_or<int64_t>("read_ahead", 1) != 0)
      batches_ahead_ = config.get_or<int>("prefetch_queue_depth", 1);
    for (const std::string& file : config.get<std::vector<std::string>>("files"))
      files_.push_back(std::make_shared<const std::string>(file));
  }

  int batches_ahead() const override { return batches_ahead_; }

  void run(SampleContext& sample) const override {
    const auto index = static_cast<size_t>(sample.reader_index(reader_));
    const std::string& file = *files_[index];
    sample.set_source(files_[index]);

    const bool is_absolute = root_.empty() || file[0] == '/';
    const OpenFile opened(is_absolute ? file : root_ + "/" + file);
    const int64_t size = opened.size();
    opened.read(sample.output(0, DataType::kUInt8, {size}).as<char>(), size);
    *sample.output(1, DataType::kInt32, {1}).as<int32_t>() = static_cast<int32_t>(labels_[index]);
  }

 private:
  int reader_;
  int batches_ahead_ = 0;
  std::string root_;
  std::vector<std::shared_ptr<const std::string>> files_;
  std::vector<int64_t> labels_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("readers.file", FileReader)

}  // namespace dali_core
