// Samples of a batch that are read ahead of their use. I/O threads `begin` and `finish` samples in
// their order, compute threads `take` them; a thread waits only for a sample that is being read.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "run_times.hpp"

namespace dali_core {

// Progress of reading a sample; none by default.
struct ReadProgress {
  size_t end = 0;  // of the program's instructions before it, those that read ahead have run
  std::exception_ptr problem;  // of the instruction at `end`, if it failed, and its source
  std::shared_ptr<const std::string> source;
  int64_t bytes = 0;
};

class SampleReads {
 public:
  explicit SampleReads(int size) : size_(size), samples_(new Sample[static_cast<size_t>(size)]) {}

  // Whether an I/O thread may find a sample to read.
  bool has_unread() const { return next_.load(std::memory_order_relaxed) < size_; }

  // The next unread sample, for the caller to read; -1 if there is none.
  int begin() {
    for (int i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < size_;) {
      State expected = State::kUnread;
      if (samples_[i].state.compare_exchange_strong(expected, State::kReading)) return i;
    }
    return -1;
  }

  // Ends what `begin` began. A failure is reported by the thread that takes the sample.
  void finish(int i, ReadProgress progress) {
    samples_[i].progress = std::move(progress);
    samples_[i].state = State::kRead;
    if (num_waiting_ == 0) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
    }
    finished_.notify_all();
  }

  struct Taken {
    bool by_io_thread = false;  // which has begun with it before
    ReadProgress progress;
  };

  // Hands the sample to the caller, which reads it unless an I/O thread has tried; the caller's
  // `times` count how long it waited.
  Taken take(int i, ThreadTimes& times) {
    State state = State::kUnread;
    if (samples_[i].state.compare_exchange_strong(state, State::kTaken)) return {};
    if (state == State::kReading) {
      std::unique_lock<std::mutex> lock(mutex_);
      ++num_waiting_;
      times.begin_wait(WaitingFor::kFiles);
      finished_.wait(lock, [&] { return samples_[i].state != State::kReading; });
      times.end_wait();
      --num_waiting_;
    }
    samples_[i].state = State::kTaken;
    return {true, std::move(samples_[i].progress)};
  }

  // Counts what was read, or tried, and never taken. For a batch that no thread works on any more.
  void count_abandoned(int64_t& samples, int64_t& bytes) const {
    for (int i = 0; i < size_; ++i) {
      if (samples_[i].state != State::kRead) continue;
      ++samples;
      bytes += samples_[i].progress.bytes;
    }
  }

 private:
  enum class State : uint8_t { kUnread, kReading, kRead, kTaken };
  struct Sample {
    std::atomic<State> state{State::kUnread};
    ReadProgress progress;  // written by the reading thread, before the state
  };

  const int size_;
  const std::unique_ptr<Sample[]> samples_;
  std::atomic<int> next_{0};
  std::atomic<int> num_waiting_{0};
  std::mutex mutex_;
  std::condition_variable finished_;
};

}  // namespace dali_core
