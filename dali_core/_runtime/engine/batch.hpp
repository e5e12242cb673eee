// One batch on its way through the stages of a plan.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/operator.hpp"
#include "reader_run.hpp"
#include "sample_reads.hpp"

namespace dali_core {

// By which exceptions of Python a failure may be caught, besides its own class.
enum class FailureKind { kOther, kValueError, kIndexError };

struct SampleFailure {
  int sample = 0;  // -1: the whole batch
  int node = 0;    // -1: no node in particular
  std::string message;
  std::string source;
  bool is_final = false;  // whether no other sample may take its place
  FailureKind kind = FailureKind::kOther;
};

// An output whose samples are contiguous in one buffer.
struct DenseOutput {
  std::shared_ptr<void> storage;
  DataType type = DataType::kNone;
  Shape shape;  // of one sample
  Layout layout;
  int64_t sample_bytes = 0;

  OutputSlot slot(int sample) const {
    return {&storage, static_cast<char*>(storage.get()) + sample * sample_bytes, type, shape};
  }
};

// What the samples of a batch have in common.
struct TensorKind {
  DataType type = DataType::kNone;
  int ndim = 0;
  Layout layout;
};

struct StageProgress {
  std::atomic<int> next{0};
  std::atomic<int> remaining{0};
};

class PreparedPlan;

class Batch {
 public:
  Batch(int64_t iteration, int size, int num_values, int num_readers, int num_stages,
        int num_outputs)
      : iteration(iteration),
        keys(size),
        reader_indices(static_cast<size_t>(size) * num_readers),
        values(num_values, std::vector<Tensor>(size)),
        dense(num_outputs),
        contiguous(num_outputs, false),
        progress(num_stages),
        bytes_(static_cast<size_t>(num_values) * size),
        stride_(size),
        size_(size),
        num_samples_(size),
        num_readers_(num_readers) {}

  int size() const { return size_; }
  // The number of samples, from which packing may have made fewer rows.
  int num_samples() const { return num_samples_; }

  // A batch-wide step may find that fewer samples are left.
  void shrink(int size) {
    size_ = num_samples_ = size;
    for (auto& samples : values) samples.resize(size);
  }

  // A batch-wide step has joined the samples to rows, which everything behind it sees as the
  // samples. Random numbers of a row depend on `first_samples`, one of its samples.
  void join(std::vector<int> first_samples) {
    if (first_samples.size() > static_cast<size_t>(size_))
      throw std::logic_error("a batch must not become larger when its samples are joined");
    for (int& first : first_samples) first = sample_at(first);
    first_samples_ = std::move(first_samples);
    is_joined_ = true;
    size_ = static_cast<int>(first_samples_.size());
    for (auto& samples : values) samples.resize(static_cast<size_t>(size_));
    // Rows have other sizes, and are no copies of each other.
    for (DenseOutput& output : dense) output = DenseOutput{};
    is_copy_.clear();
    if (!replaces_failed) return;
    // Bad samples are in no row.
    std::lock_guard<std::mutex> lock(failures_mutex_);
    const auto bad = std::partition(failures_.begin(), failures_.end(),
                                    [](const SampleFailure& failure) { return failure.is_final; });
    std::move(bad, failures_.end(), std::back_inserter(replaced_));
    failures_.erase(bad, failures_.end());
  }
  bool is_joined() const { return is_joined_; }

  // The sample on which random numbers at a place of the batch depend.
  int sample_at(int place) const {
    return is_joined_ && place >= 0 ? first_samples_[static_cast<size_t>(place)] : place;
  }
  const SampleKey& random_key(int place) const {
    return keys[static_cast<size_t>(sample_at(place))];
  }

  // A value of the samples at some places of the batch, or of all if there are none.
  std::vector<Tensor> samples(size_t value, const std::vector<int>& places) const {
    if (places.empty()) return values[value];
    std::vector<Tensor> found;
    for (int place : places) found.push_back(values[value][place]);
    return found;
  }

  // Sets a value of the samples at some places of the batch, or of all.
  void set_value(size_t value, std::vector<Tensor> tensors, const std::vector<int>& places = {}) {
    if (places.empty()) values[value] = std::move(tensors);
    for (size_t i = 0; i < places.size(); ++i) values[value][places[i]] = std::move(tensors[i]);
    for (int sample = 0; sample < size_; ++sample) note_bytes(static_cast<int>(value), sample);
  }

  // Notes and returns how large a value is, before it may be released. Each sample belongs to one
  // thread.
  int64_t note_bytes(int value, int sample) {
    return bytes_[static_cast<size_t>(value) * stride_ + sample] =
               values[value][sample].num_bytes();
  }
  // How large a value was in each sample; 0 where it never came into being.
  std::vector<int64_t> bytes_of(int value) const {
    const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(value) * stride_;
    return {first, first + size_};
  }

  const int64_t* indices_of(int sample) const {
    return reader_indices.data() + static_cast<size_t>(sample) * num_readers_;
  }

  // Says where one reader's samples come from. The first reader numbers the batch's samples.
  void set_runs(int reader, std::vector<ReaderRun> runs);

  // How many other samples of the same shard and epoch may be tried in the place of a bad one.
  int num_replacements(int sample) const;
  // The readers' indices of the one that comes `distance` places later in all of them.
  std::vector<int64_t> replacement(int sample, int distance) const;
  // What the random numbers of that one depend on; of the sample itself if that is not known.
  SampleKey later_key(int sample, int distance) const;

  // Sets a value of a sample that is known beforehand, and stays until the batch is gone.
  void give(int value, int sample, Tensor tensor) {
    is_given_.resize(values.size(), false);
    is_given_[static_cast<size_t>(value)] = true;
    values[static_cast<size_t>(value)][static_cast<size_t>(sample)] = std::move(tensor);
  }
  // Forgets everything about a sample that was computed.
  void clear(int sample);

  // A copy of another sample fails with it, and is not bad twice.
  void fail(SampleFailure failure) {
    std::lock_guard<std::mutex> lock(failures_mutex_);
    if (is_joined_) {  // no other row can take its place
      failure.sample = sample_at(failure.sample);
      failure.is_final = true;
    }
    if (failure.is_final || !is_copy(failure.sample)) failures_.push_back(std::move(failure));
  }
  bool failed() const {
    std::lock_guard<std::mutex> lock(failures_mutex_);
    return !failures_.empty();
  }
  // Sorted by sample, so that what is reported first does not depend on timing.
  std::vector<SampleFailure> failures() const;
  // Of the first failure.
  FailureKind failure_kind() const;

  // Bad samples in whose place others are, sorted like failures.
  std::vector<SampleFailure> replaced() const;
  void note_replaced(SampleFailure failure) {
    std::lock_guard<std::mutex> lock(failures_mutex_);
    replaced_.push_back(std::move(failure));
  }
  // Puts the next good sample of the batch in the place of each bad one, in all values, if no
  // failure is final. Called after each stage: copies stay copies, whatever later stages make.
  void replace_failed();
  // Whether another sample of the batch is in the place of this one.
  bool is_copy(int sample) const {
    return sample >= 0 && static_cast<size_t>(sample) < is_copy_.size() && is_copy_[sample];
  }

  // What the random numbers of an instruction depend on, for a sample and for the whole batch.
  SampleKey key_of(int node, int sample) const {
    const uint64_t draw = draws.empty() ? 0 : draws[static_cast<size_t>(node)];
    if (draw == 0) return keys[static_cast<size_t>(sample)];
    return drawn_key(draw, static_cast<uint64_t>(sample));
  }

  const int64_t iteration;
  std::shared_ptr<const PreparedPlan> plan;  // what it is run by
  std::vector<SampleKey> keys;
  // [node]: a number that tells its random numbers from those of other calls, which then depend on
  // the place in the batch alone; 0, or empty, if its seed and the keys do so.
  std::vector<uint64_t> draws;
  std::vector<int64_t> reader_indices;      // sample-major: one index a reader
  std::vector<std::vector<Tensor>> values;  // [value][sample]
  // [joined value]: of each sample, since the values themselves may be released early.
  std::vector<std::vector<TensorKind>> kinds;
  std::vector<DenseOutput> dense;       // [output]: where samples may be written in place
  std::vector<bool> contiguous;         // [output]: whether they all were
  std::vector<StageProgress> progress;  // [stage]
  std::vector<int> output_of_value;     // [value]: its place among the outputs, or -1
  std::vector<BufferPool*> pools;       // [value]: where its memory comes from, if not as usual
  bool replaces_failed = false;         // whether other samples may stand in for bad ones
  std::unique_ptr<SampleReads> reads;   // null if no thread reads ahead

  // Guarded by the executor's mutex.
  int stage = -1;
  bool done = false;
  int64_t done_at = 0;  // nanoseconds_now() when it was done

  // Of the step that runs for the batch; known to the thread that runs it.
  int64_t step_began = 0;
  int64_t step_processor_began = 0;

  // Set when the executor drops the batch: it may never be done.
  std::atomic<bool> cancelled{false};

 private:
  std::vector<int64_t> bytes_;  // value-major: one number a sample
  int stride_;                  // how many samples there were at first
  int size_;
  int num_samples_;
  bool is_joined_ = false;
  std::vector<int> first_samples_;  // of each row, once samples are joined
  int num_readers_;
  mutable std::mutex failures_mutex_;
  std::vector<SampleFailure> failures_;
  std::vector<SampleFailure> replaced_;
  std::vector<bool> is_copy_;   // changes between stages only; empty if no sample is a copy
  std::vector<bool> is_given_;  // [value]; empty if none is
  std::vector<std::vector<ReaderRun>> runs_;  // [reader]
};

}  // namespace dali_core
