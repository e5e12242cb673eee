// Which samples of a batch were read ahead of their use. I/O threads `begin` and `finish` samples
// in their order, compute threads `take` them; nobody waits but for a sample that is being read.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "run_times.hpp"

namespace dali_core {

class SampleReads {
 public:
  explicit SampleReads(int size) : size_(size), samples_(new Sample[static_cast<size_t>(size)]) {}

  // Whether an I/O thread may find a sample to read.
  bool has_unread() const { return next_.load(std::memory_order_relaxed) < size_; }

  // The next sample that nobody has begun with, for the caller to read; -1 if there is none.
  int begin() {
    for (int i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < size_;) {
      State expected = State::kUnread;
      if (samples_[i].state.compare_exchange_strong(expected, State::kReading)) return i;
    }
    return -1;
  }

  // Ends what `begin` began. After a failure whoever takes the sample reads it again, and reports.
  void finish(int i, bool is_read, int64_t bytes) {
    samples_[i].bytes = bytes;
    samples_[i].state = is_read ? State::kRead : State::kFailed;
    if (num_waiting_ == 0) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
    }
    finished_.notify_all();
  }

  struct Taken {
    bool by_io_thread = false;  // which has begun with it before
    bool is_read = false;
    int64_t bytes = 0;
  };

  // Hands the sample to the caller, which reads it unless somebody has, and whose `times` count how
  // long it waited.
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
    const bool is_read = samples_[i].state.exchange(State::kTaken) == State::kRead;
    return {true, is_read, samples_[i].bytes};
  }

  // Counts what was read, or tried, and never taken. For a batch that nobody works on any more.
  void count_abandoned(int64_t& samples, int64_t& bytes) const {
    for (int i = 0; i < size_; ++i) {
      const State state = samples_[i].state;
      if (state != State::kRead && state != State::kFailed) continue;
      ++samples;
      bytes += samples_[i].bytes;
    }
  }

 private:
  enum class State : uint8_t { kUnread, kReading, kRead, kFailed, kTaken };
  struct Sample {
    std::atomic<State> state{State::kUnread};
    int64_t bytes = 0;  // written by whoever reads, before the state
  };

  const int size_;
  const std::unique_ptr<Sample[]> samples_;
  std::atomic<int> next_{0};
  std::atomic<int> num_waiting_{0};
  std::mutex mutex_;
  std::condition_variable finished_;
};

}  // namespace dali_core
