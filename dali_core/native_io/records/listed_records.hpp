// Records of files by their numbers, as the reader's listing in Python describes them.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/files/kept_files.hpp"
#include "dali_core/native_io/files/record_runs.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class ListedRecords {
 public:
  explicit ListedRecords(const OperatorConfig& config)
      : reader_(config.reader),
        paths_(config.get<std::vector<std::string>>("paths"), Storage(config)),
        files_(config.get<std::vector<int64_t>>("files")),
        offsets_(config.get<std::vector<int64_t>>("offsets")),
        sizes_(config.get<std::vector<int64_t>>("sizes")),
        bad_(config.get<std::vector<int64_t>>("bad")),
        problems_(config.get<std::vector<std::string>>("problems")),
        runs_(Storage(config)) {
    for (size_t i = 0; i < files_.size(); ++i)
      runs_.add(paths_.path(static_cast<size_t>(files_[i])), files_[i], offsets_[i],
                offsets_[i] + sizes_[i]);
    if (config.has_constant("keys")) {
      keys_ = config.get<std::vector<std::string>>("keys");
      folders_ = config.get<std::vector<std::string>>("folders");
    }
    if (config.get_or<int64_t>("read_ahead", 1) != 0)
      batches_ahead_ = config.get_or<int>("prefetch_queue_depth", 1);
  }

  int batches_ahead() const { return batches_ahead_; }

  // Calls `use` with the open file, and offset and size of the sample's record; the size is what
  // the listing says.
  template <typename Use>
  void with_record(SampleContext& sample, Use&& use) const {
    const int64_t index = sample.reader_index(reader_);
    const auto number = static_cast<size_t>(index);
    const auto file = static_cast<size_t>(files_[number]);
    sample.set_source(std::make_shared<const std::string>(
        keys_.empty() ? paths_.path(file) + " at index " + std::to_string(offsets_[number])
                      : folders_[file] + " at key " + keys_[number]));
    const auto bad = std::lower_bound(bad_.begin(), bad_.end(), index);
    if (bad != bad_.end() && *bad == index)
      throw std::runtime_error(problems_[static_cast<size_t>(bad - bad_.begin())]);
    paths_.with(file, [&](const OpenFile& opened) {
      runs_.load(number, opened);
      use(opened, offsets_[number], sizes_[number]);
    });
  }

  // Reads a record into temporary memory.
  static uint8_t* read(SampleContext& sample, const OpenFile& file, int64_t offset, int64_t size) {
    if (!file.may_have(offset, size))
      throw std::runtime_error("the file must have a record of " + std::to_string(size) +
                               " bytes at byte " + std::to_string(offset) + " (it has " +
                               std::to_string(file.size()) +
                               " bytes in all). It is cut off, or its index is of another file.");
    auto* const data = sample.scratch<uint8_t>(0, static_cast<size_t>(size));
    file.read_at(offset, reinterpret_cast<char*>(data), size);
    return data;
  }

 private:
  int reader_;
  int batches_ahead_ = 0;
  KeptFiles paths_;
  std::vector<int64_t> files_, offsets_, sizes_, bad_;
  std::vector<std::string> problems_;
  std::vector<std::string> keys_, folders_;  // of databases
  mutable RecordRuns runs_;
};

}  // namespace dali_core
