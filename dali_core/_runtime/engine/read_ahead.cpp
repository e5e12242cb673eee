// The part of the executor that reads files before compute threads need them.
//
// I/O threads run the first operators of a sample program, those that wait for a disk, for samples
// in their order. A compute thread that comes to an unread sample reads it itself: there is no
// barrier, and with all files in memory the two hardly ever meet.
#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "executor.hpp"

namespace dali_core {

namespace {

// Of files that wait in memory. Each I/O thread may exceed it by the file that it reads.
constexpr int64_t kMaxWaitingBytes = int64_t{128} << 20;

}  // namespace

int64_t Executor::most_samples_read_ahead(int batch_size) const {
  return int64_t{plan().stages[reading_stage_].program->batches_ahead()} * batch_size;
}

// Called with the mutex held, before a batch of this size is read: a thread for each sample that
// may be read ahead, and no more than wanted. Many executors end before they have read anything.
void Executor::start_io_threads(int batch_size) {
  const int64_t wanted = num_compute_threads_ +
                         std::min<int64_t>(most_io_threads(), most_samples_read_ahead(batch_size));
  try {
    while (!closing_ && static_cast<int64_t>(threads_.size()) < wanted)
      threads_.emplace_back([this, &times = times_[threads_.size()]] { read(times); });
  } catch (const std::exception&) {
    // Where no more can start, for want of memory or by the system's limit, compute threads read
    // what they come to: nothing may be thrown through the thread that comes here.
  }
}

void Executor::read(ThreadTimes& times) {
  Worker worker(*pool_, times);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    std::shared_ptr<Batch> batch;
    reads_available_.wait(lock, [&] { return closing_ || (batch = find_reads()) != nullptr; });
    if (closing_) return;
    ++busy_workers_;
    lock.unlock();
    read_one(*batch, reading_stage_, worker);
    batch.reset();  // outside the lock: it may be the last owner
    lock.lock();
    --busy_workers_;
    if (num_cancelling_ > 0) progress_made_.notify_all();
  }
}

// Called with the mutex held: the oldest batch with samples to read, unless enough of them wait.
std::shared_ptr<Batch> Executor::find_reads() {
  for (const auto& batch : active_) {
    if (batch->stage != reading_stage_ || !batch->reads->has_unread()) continue;
    const int64_t window = most_samples_read_ahead(batch->size());
    // Each pause lasts until half of what was read is used: waking a thread costs as much as
    // reading a small file. A thread that takes a sample looks at `reads_paused_` after counting
    // down, and here it is set before counting.
    resume_below_ = window / 2;
    const bool was_paused = reads_paused_.exchange(true);
    const bool has_room = samples_waiting_ < (was_paused ? resume_below_.load() + 1 : window) &&
                          bytes_waiting_ < (was_paused ? kMaxWaitingBytes / 2 : kMaxWaitingBytes);
    if (!has_room) return nullptr;
    reads_paused_ = false;
    return batch;
  }
  return nullptr;
}

void Executor::read_one(Batch& batch, int stage, Worker& worker) {
  const int sample = batch.reads->begin();
  if (sample < 0) return;
  ++samples_waiting_;
  ReadProgress progress = plan().stages[stage].program->read_ahead(batch, sample, worker);
  bytes_waiting_ += progress.bytes;
  batch.reads->finish(sample, std::move(progress));
}

// Returns how far the sample has been read ahead; the caller reads the rest.
ReadProgress Executor::take_read(Batch& batch, int sample, ThreadTimes& times) {
  SampleReads::Taken taken = batch.reads->take(sample, times);
  if (taken.by_io_thread) {
    bytes_waiting_ -= taken.progress.bytes;
    --samples_waiting_;
  }
  if (reads_paused_ && samples_waiting_ <= resume_below_ && bytes_waiting_ < kMaxWaitingBytes / 2) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
    }
    reads_available_.notify_all();
  }
  return std::move(taken.progress);
}

// Samples of dropped batches no longer count as waiting. No thread works on them.
void Executor::release_reads(const std::deque<std::shared_ptr<Batch>>& dropped) {
  int64_t samples = 0, bytes = 0;
  for (const auto& batch : dropped)
    if (batch->reads) batch->reads->count_abandoned(samples, bytes);
  samples_waiting_ -= samples;
  bytes_waiting_ -= bytes;
}

}  // namespace dali_core
