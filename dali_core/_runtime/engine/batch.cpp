#include "batch.hpp"

#include <algorithm>
#include <limits>

namespace dali_core {
namespace {

std::vector<SampleFailure> sorted(std::vector<SampleFailure> failures) {
  std::sort(failures.begin(), failures.end(), [](const SampleFailure& a, const SampleFailure& b) {
    return a.sample != b.sample ? a.sample < b.sample : a.node < b.node;
  });
  return failures;
}

// The run that a sample belongs to; `sample` becomes its place in there.
const ReaderRun* find_run(const std::vector<ReaderRun>& runs, uint64_t& sample) {
  for (const ReaderRun& run : runs) {
    if (sample < run.length) return &run;
    sample -= run.length;
  }
  return nullptr;
}

}  // namespace

void Batch::set_runs(int reader, std::vector<ReaderRun> runs) {
  size_t sample = 0;
  for (const ReaderRun& run : runs) {
    const ReaderRun::Indices indices(run);
    for (uint64_t i = 0; i < run.length; ++i, ++sample) {
      const uint64_t position = run.position(i);
      if (reader == 0) keys[sample] = {run.epoch, position};
      reader_indices[sample * num_readers_ + reader] = indices(position);
    }
  }
  runs_.resize(num_readers_);
  runs_[reader] = std::move(runs);
}

int Batch::num_replacements(int sample) const {
  uint64_t largest = 0;
  for (const auto& runs : runs_) {
    uint64_t place = static_cast<uint64_t>(sample);
    const ReaderRun* run = find_run(runs, place);
    if (run) largest = std::max(largest, run->shard_size);
  }
  constexpr uint64_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::min(largest == 0 ? 0 : largest - 1, kMost));
}

std::vector<int64_t> Batch::replacement(int sample, int distance) const {
  std::vector<int64_t> indices(indices_of(sample), indices_of(sample) + num_readers_);
  for (size_t reader = 0; reader < runs_.size(); ++reader) {
    uint64_t place = static_cast<uint64_t>(sample);
    const ReaderRun* run = find_run(runs_[reader], place);
    if (!run || run->shard_size == 0) continue;
    const uint64_t position = run->later_position(place, static_cast<uint64_t>(distance));
    indices[reader] = ReaderRun::Indices(*run)(position);
  }
  return indices;
}

SampleKey Batch::later_key(int sample, int distance) const {
  uint64_t place = static_cast<uint64_t>(sample);
  const ReaderRun* run = runs_.empty() ? nullptr : find_run(runs_[0], place);
  if (!run || run->shard_size == 0) return keys[static_cast<size_t>(sample)];
  return {run->epoch, run->later_position(place, static_cast<uint64_t>(distance))};
}

void Batch::clear(int sample) {
  for (size_t value = 0; value < values.size(); ++value)
    if (is_given_.empty() || !is_given_[value]) values[value][sample] = Tensor{};
}

std::vector<SampleFailure> Batch::failures() const {
  std::lock_guard<std::mutex> lock(failures_mutex_);
  return sorted(failures_);
}

FailureKind Batch::failure_kind() const {
  const std::vector<SampleFailure> all = failures();
  return all.empty() ? FailureKind::kOther : all.front().kind;
}

std::vector<SampleFailure> Batch::replaced() const {
  std::lock_guard<std::mutex> lock(failures_mutex_);
  return sorted(replaced_);
}

void Batch::replace_failed() {
  std::lock_guard<std::mutex> lock(failures_mutex_);
  if (failures_.empty() && is_copy_.empty()) return;
  std::vector<bool> is_bad = is_copy_;
  is_bad.resize(static_cast<size_t>(size_), false);
  for (const SampleFailure& failure : failures_) {
    if (failure.is_final || failure.sample < 0 || failure.sample >= size_) return;
    is_bad[failure.sample] = true;
  }
  if (std::find(is_bad.begin(), is_bad.end(), false) == is_bad.end()) return;
  for (int bad = 0; bad < size_; ++bad) {
    if (!is_bad[bad]) continue;
    int good = bad;
    while (is_bad[good]) good = (good + 1) % size_;
    for (auto& samples : values) samples[bad] = samples[good];
  }
  is_copy_ = std::move(is_bad);
  for (SampleFailure& failure : failures_) replaced_.push_back(std::move(failure));
  failures_.clear();
}

}  // namespace dali_core
