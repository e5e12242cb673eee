// fn.readers.file: reads one file of a list, and gives its label, or labels.
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
    label_width_ = config.get_or<int64_t>("label_width", 0);
    if (label_width_ == 0) return;
    label_values_ = config.get<std::vector<double>>("label_values");
    label_is_float_ = config.get<int64_t>("label_is_float") != 0;
  }

  int batches_ahead() const override { return batches_ahead_; }

  void run(SampleContext& sample) const override {
    LabeledPath found = paths_->at(sample.reader_index(reader_));
    const auto file = std::make_shared<const std::string>(std::move(found.path));
    sample.set_source(file);

    const OpenFile opened(joined_path(root_, *file), storage_);
    read_output(sample, 0, opened, 0, opened.size());
    if (label_width_ == 0) {
      *sample.output(1, DataType::kInt32, {1}).as<int32_t>() = found.label;
      return;
    }
    // The label is the number of the file's row.
    const double* row = &label_values_.at(found.label * label_width_);
    const DataType type = label_is_float_ ? DataType::kFloat : DataType::kInt32;
    Tensor& labels = sample.output(1, type, {label_width_});
    if (label_is_float_) {
      for (int64_t i = 0; i < label_width_; ++i) labels.as<float>()[i] = static_cast<float>(row[i]);
    } else {
      for (int64_t i = 0; i < label_width_; ++i)
        labels.as<int32_t>()[i] = static_cast<int32_t>(row[i]);
    }
  }

 private:
  int reader_;
  Storage storage_;
  int batches_ahead_ = 0;
  std::string root_;
  std::shared_ptr<const PathList> paths_;
  int64_t label_width_ = 0;  // 0 where the labels of the paths are those of the files
  bool label_is_float_ = false;
  std::vector<double> label_values_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("readers.file", FileReader)

}  // namespace dali_core
