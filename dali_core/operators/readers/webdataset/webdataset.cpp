// fn.readers.webdataset: reads the files of one sample from a tar archive.
#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/files/kept_files.hpp"
#include "dali_core/native_io/files/record_runs.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class WebdatasetReader : public Operator {
 public:
  explicit WebdatasetReader(const OperatorConfig& config)
      : reader_(config.reader),
        archives_(config.get<std::vector<std::string>>("paths"), Storage(config)),
        files_(config.get<std::vector<int64_t>>("files")),
        offsets_(config.get<std::vector<int64_t>>("offsets")),
        sizes_(config.get<std::vector<int64_t>>("sizes")),
        bad_(config.get<std::vector<int64_t>>("bad")),
        names_(config.get<std::vector<std::string>>("names")),
        problems_(config.get<std::vector<std::string>>("problems")),
        types_(static_cast<size_t>(config.num_outputs), DataType::kUInt8),
        runs_(Storage(config)) {
    for (size_t i = 0; i < files_.size(); ++i) {
      const Extent extent = extent_of(i);
      runs_.add(archives_.path(static_cast<size_t>(files_[i])), files_[i], extent.start,
                extent.end);
    }
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
    if (opened.is_remote() && !runs_.load(number, opened)) {
      const Extent extent = extent_of(number);
      if (extent.end > extent.start) opened.load(extent.start, extent.end - extent.start);
    }
    for (size_t i = 0; i < types_.size(); ++i) {
      const size_t place = number * types_.size() + i;
      const int64_t size = sizes_[place], offset = offsets_[place], unit = size_of(types_[i]);
      if (size > 0 && !opened.may_have(offset, size))
        throw std::runtime_error("the archive must have " + std::to_string(size) +
                                 " bytes at byte " + std::to_string(offset) + " (it has " +
                                 std::to_string(opened.size()) +
                                 " in all). It is cut off, or its index is of another archive.");
      if (size > 0 && size % unit != 0)
        throw std::runtime_error("the file for output " + std::to_string(i) +
                                 " must consist of whole elements of " + std::to_string(unit) +
                                 " bytes (got " + std::to_string(size) +
                                 " bytes). Change dtypes, or pack it again.");
      const int64_t count = std::max<int64_t>(size, 0) / unit;
      read_output(sample, static_cast<int>(i), opened, offset, count, types_[i]);
    }
  }

  struct Extent {
    int64_t start = 0, end = 0;
  };

  // Where all files of a sample are; nowhere if there are none, or there is much between them.
  Extent extent_of(size_t number) const {
    int64_t first = std::numeric_limits<int64_t>::max(), end = 0, needed = 0;
    for (size_t i = number * types_.size(); i < (number + 1) * types_.size(); ++i) {
      if (sizes_[i] <= 0) continue;
      first = std::min(first, offsets_[i]);
      end = std::max(end, offsets_[i] + sizes_[i]);
      needed += sizes_[i];
    }
    return needed > 0 && end - first - needed <= kMaxGap ? Extent{first, end} : Extent{};
  }

  static constexpr int64_t kMaxGap = 1 << 20;

  int reader_;
  int batches_ahead_ = 0;
  KeptFiles archives_;
  std::vector<int64_t> files_, offsets_, sizes_, bad_;
  std::vector<std::string> names_, problems_;
  std::vector<DataType> types_;
  mutable RecordRuns runs_;
};

DALI_CORE_REGISTER_OPERATOR("readers.webdataset", WebdatasetReader)

}  // namespace dali_core
