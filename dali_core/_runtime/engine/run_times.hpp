// Timings of the parts of a run. Every thread has counters of its own, so that counting costs no
// more than reading a clock; the caller adds up those of all threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

namespace dali_core {

// Nanoseconds of a clock that never goes back.
inline int64_t nanoseconds_now() {
  timespec now{};  // std::chrono calls a library for this, which takes longer
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

// A sum that one thread adds to, while others may read it.
template <typename Number>
class Counter {
 public:
  void add(Number amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  Number get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Number> value_{0};
};

// Durations are counted in classes, eight to each power of two of nanoseconds: percentiles are
// found to 5 %. Class 0 has all below 64 ns, the last one all from 2^36 ns (69 s) on.
constexpr int kFirstPower = 6, kLastPower = 36, kClassesPerPower = 8;
constexpr int kNumDurationClasses = (kLastPower - kFirstPower) * kClassesPerPower + 2;

inline int duration_class(int64_t nanoseconds) {
  if (nanoseconds < (int64_t{1} << kFirstPower)) return 0;
  const int power = 63 - __builtin_clzll(static_cast<uint64_t>(nanoseconds));
  if (power >= kLastPower) return kNumDurationClasses - 1;
  const auto step = static_cast<int>(nanoseconds >> (power - 3)) & (kClassesPerPower - 1);
  return 1 + (power - kFirstPower) * kClassesPerPower + step;
}

// What one thread has done in one operator, or in one chain of operators that ran as one.
struct OperatorTimes {
  Counter<int64_t> nanoseconds;
  Counter<int64_t> bytes_in;
  Counter<int64_t> bytes_out;
  Counter<int64_t> samples;                // of steps only: all others are called once a sample
  Counter<int64_t> processor_nanoseconds;  // of steps only
  std::array<Counter<int64_t>, kNumDurationClasses> durations;  // their sum is the number of calls

  void add(int64_t duration) {
    nanoseconds.add(duration);
    durations[static_cast<size_t>(duration_class(duration))].add(1);
  }
};

// What a thread may wait for.
enum class WaitingFor : int {
  kNothing,
  kConsumer,  // all batches that may be on their way are done
  kSteps,     // Python, or a device
  kOthers,    // the last samples of a batch, which other threads have
  kFiles      // a file that another thread is reading
};
constexpr int kNumWaits = 5;

// What a thread did at some time, for a trace.
struct TraceEvent {
  int64_t begin = 0, end = 0;  // nanoseconds_now()
  int64_t what = 0;            // a slot of `ThreadTimes::operators`; -1 - WaitingFor of a wait
  int64_t iteration = -1;      // number of the batch
  int64_t sample = -1;         // place in the batch; -1: all of it
};

// What one thread of an executor has done since its start.
class ThreadTimes {
 public:
  // Of a thread, in a trace; 40 bytes each.
  static constexpr size_t kMaxEvents = 1'000'000;

  explicit ThreadTimes(size_t num_operators) : operators(num_operators) {}

  void begin_wait(WaitingFor what) {
    waiting_since_.store(nanoseconds_now(), std::memory_order_relaxed);
    waiting_for_.store(static_cast<int>(what), std::memory_order_relaxed);
  }
  void end_wait() {
    const int what = waiting_for_.load(std::memory_order_relaxed);
    waiting_for_.store(0, std::memory_order_relaxed);
    const int64_t begin = waiting_since_.load(std::memory_order_relaxed);
    lap_began_ = nanoseconds_now();
    waits_[static_cast<size_t>(what)].add(lap_began_ - begin);
    if (is_traced_) note({begin, lap_began_, -1 - what, -1, -1});
  }

  // Operators are timed in laps, each of which begins when the last one, or a wait, ended: the
  // clock is read once for each.
  void begin_lap() { lap_began_ = nanoseconds_now(); }
  void end_lap(int slot, int64_t iteration, int sample) {
    const int64_t begin = std::exchange(lap_began_, nanoseconds_now());
    operators[static_cast<size_t>(slot)].add(lap_began_ - begin);
    if (is_traced_) note({begin, lap_began_, slot, iteration, sample});
  }
  // Counts a step, which may have begun in another thread.
  void add_step(int slot, int64_t begin, int64_t iteration, int num_samples, int64_t processor) {
    OperatorTimes& times = operators[static_cast<size_t>(slot)];
    const int64_t end = nanoseconds_now();
    times.add(end - begin);
    times.samples.add(num_samples);
    times.processor_nanoseconds.add(processor);
    if (is_traced_) note({begin, end, slot, iteration, -1});
  }

  // Keeps what the thread does from now on, or no longer.
  void trace(bool is_traced) { is_traced_ = is_traced; }
  // Takes what was kept.
  std::vector<TraceEvent> take_events() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(events_, {});
  }
  // How long the thread has waited for something, until `now`.
  int64_t waited(WaitingFor what, int64_t now) const {
    int64_t sum = waits_[static_cast<size_t>(what)].get();
    if (waiting_for_.load(std::memory_order_relaxed) == static_cast<int>(what))
      sum += now - waiting_since_.load(std::memory_order_relaxed);
    return sum;
  }

  std::vector<OperatorTimes> operators;  // [slot]: nodes, then chains

 private:
  void note(const TraceEvent& event) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (events_.size() < kMaxEvents) events_.push_back(event);
  }

  std::array<Counter<int64_t>, kNumWaits> waits_;
  int64_t lap_began_ = 0;
  std::atomic<bool> is_traced_{false};
  std::mutex mutex_;
  std::vector<TraceEvent> events_;
  std::atomic<int> waiting_for_{0};
  std::atomic<int64_t> waiting_since_{0};
};

}  // namespace dali_core
