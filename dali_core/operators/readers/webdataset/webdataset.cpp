// fn.readers.webdataset: reads the files of one sample from a tar archive.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/kernels/files/kept_files.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class WebdatasetReader : public Operator {
 public:
  explicit WebdatasetReader(const OperatorConfig& config)
      : reader_(config.reader),
        archives_(config.get<std::vector<std::string>>("paths")),
        files_(config.get<std::vector<int64_t>>("files")),
        offsets_(config.get<std::vector<int64_t>>("offsets")),
        sizes_(config.get<std::vector<int64_t>>("sizes")),
        bad_(config.get<std::vector<int64_t>>("bad")),
        names_(config.get<std::vector<std::string>>("names")),
        problems_(config.get<std::vector<std::string>>("problems")),
        types_(static_cast<size_t>(config.num_outputs), DataType::kUInt8) {
    if (config.get_or<int64_t>("read_ahead", 1) != 0)
      batches_ahead_ = config.get_or<int>("prefetch_queue_depth", 1);
    if (!config.has("dtypes")) return;
    const auto types = config.get<std::vector<int64_t>>("dtypes");
    for (size_t i = 0; i < types.size(); ++i) types_[i] = static_cast<DataType>(types[i]);
  }

  int batches_ahead() const override { return batches_ahead_; }

  void run(SampleContext& sample) const override {
    const int64_t index = sample.reader_index(reader_);
    const auto number = static_cast<size_t>(index);
    const auto file = static_cast<size_t>(files_[number]);
    const std::string& name = names_[number];
    sample.set_source(std::make_shared<const std::string>(archives_.path(file) +
                                                          (name.empty() ? "" : ":") + name));
    const auto bad = std::lower_bound(bad_.begin(), bad_.end(), index);
    if (bad != bad_.end() && *bad == index)
      throw std::runtime_error(problems_[static_cast<size_t>(bad - bad_.begin())]);
    archives_.with(file, [&](const OpenFile& opened) { read(sample, number, opened); });
  }

 private:
  void read(SampleContext& sample, size_t number, const OpenFile& opened) const {
    const int64_t end = opened.size();
    for (size_t i = 0; i < types_.size(); ++i) {
      const size_t place = number * types_.size() + i;
      const int64_t size = sizes_[place], offset = offsets_[place], unit = size_of(types_[i]);
      if (size > 0 && (offset > end || size > end - offset))
        throw std::runtime_error("the archive must have " + std::to_string(size) +
                                 " bytes at byte " + std::to_string(offset) + " (it has " +
                                 std::to_string(end) +
                                 " in all). It is cut off, or its index is of another archive.");
      if (size > 0 && size % unit != 0)
        throw std::runtime_error("the file for output " + std::to_string(i) +
                                 " must consist of whole elements of " + std::to_string(unit) +
                                 " bytes (got " + std::to_string(size) +
                                 " bytes). Change dtypes, or pack it again.");
      const int64_t count = std::max<int64_t>(size, 0) / unit;
      Tensor& output = sample.output(static_cast<int>(i), types_[i], {count});
      if (count > 0) opened.read_at(offset, output.as<char>(), size);
    }
  }

  int reader_;
  int batches_ahead_ = 0;
  KeptFiles archives_;
  std::vector<int64_t> files_, offsets_, sizes_, bad_;
  std::vector<std::string> names_, problems_;
  std::vector<DataType> types_;
};

DALI_CORE_REGISTER_OPERATOR("readers.webdataset", WebdatasetReader)

}  // namespace dali_core
