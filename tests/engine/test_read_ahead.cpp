// Prefetching: I/O threads read samples in advance, and compute threads only wait for a sample that
// is being read.
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "check.hpp"
#include "plans.hpp"
#include "sample_reads.hpp"

using namespace dali_core;

namespace {

// Reads like `number`, and records which threads read.
class Reading : public Operator {
 public:
  explicit Reading(int batches_ahead, std::function<void(SampleContext&)> rule)
      : batches_ahead_(batches_ahead), rule_(std::move(rule)) {}
  int batches_ahead() const override { return batches_ahead_; }
  void run(SampleContext& sample) const override {
    ++num_reads;
    rule_(sample);
  }
  mutable std::atomic<int> num_reads{0};

 private:
  int batches_ahead_;
  std::function<void(SampleContext&)> rule_;
};

Plan with_reading(const std::shared_ptr<const Operator>& reading, int num_io_threads,
                  std::function<void(SampleContext&)> compute = add_one) {
  Instruction read;
  read.op = reading;
  read.outputs = {0};
  Plan result = plan({program({instruction(number(2), {}, {1}), read,
                               instruction(std::move(compute), {0}, {2}, {0}, 9)})},
                     {1, 2}, 3);
  result.num_io_threads = num_io_threads;
  return result;
}

void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

}  // namespace

TEST(sample_is_read_once_by_the_first_thread) {
  SampleReads reads(4);
  ThreadTimes times(1);
  CHECK_EQUAL(reads.begin(), 0);
  reads.finish(0, {2, nullptr, nullptr, 100});
  const auto taken = reads.take(0, times);
  CHECK(taken.by_io_thread && !taken.progress.problem);
  CHECK_EQUAL(taken.progress.end, 2u);
  CHECK_EQUAL(taken.progress.bytes, 100);
  CHECK(!reads.take(1, times).by_io_thread);
  CHECK_EQUAL(reads.begin(), 2);  // samples that were taken are not read
  reads.finish(2, {1, std::make_exception_ptr(std::runtime_error("bad")), nullptr, 0});
  CHECK(reads.take(2, times).progress.problem != nullptr);
  CHECK(reads.has_unread());
  CHECK_EQUAL(reads.begin(), 3);
  CHECK(!reads.has_unread());
  CHECK_EQUAL(reads.begin(), -1);
  reads.finish(3, {2, nullptr, nullptr, 7});
  int64_t samples = 0, bytes = 0;
  reads.count_abandoned(samples, bytes);
  CHECK_EQUAL(samples, 1);
  CHECK_EQUAL(bytes, 7);
}

TEST(consumer_waits_for_a_read_in_progress) {
  for (int round = 0; round < 200; ++round) {
    SampleReads reads(1);
    int content = 0;
    std::thread io([&] {
      if (reads.begin() < 0) return;
      content = 42;
      reads.finish(0, {1, nullptr, nullptr, 4});
    });
    ThreadTimes times(1);
    const auto taken = reads.take(0, times);
    if (taken.progress.end > 0) CHECK_EQUAL(content, 42);
    io.join();
  }
}

TEST(reading_ahead_changes_no_result) {
  for (int num_io_threads : {0, 1, 4}) {
    const auto reading = std::make_shared<Reading>(1, number(100));
    Executor executor(with_reading(reading, num_io_threads), 2, false);
    std::vector<std::shared_ptr<Batch>> batches;
    for (int64_t iteration = 0; iteration < 60; ++iteration)
      batches.push_back(submit(executor, iteration, 7));
    for (const auto& batch : batches) {
      CHECK(executor.wait(batch, kLong));
      CHECK(!batch->failed() && holds_numbers(*batch, 1, 0) && holds_numbers(*batch, 2, 1));
    }
    CHECK_EQUAL(reading->num_reads.load(), 60 * 7);
    CHECK_EQUAL(executor.samples_waiting(), 0);
    CHECK_EQUAL(executor.bytes_waiting(), 0);
  }
}

TEST(read_ahead_is_bounded) {
  for (int batches_ahead : {1, 2}) {
    std::atomic<bool> may_compute{false};
    const auto compute = [&](SampleContext& sample) {
      wait_until([&] { return may_compute.load(); });
      add_one(sample);
    };
    const auto reading = std::make_shared<Reading>(batches_ahead, number(10));
    Executor executor(with_reading(reading, 3, compute), 1, false);
    std::vector<std::shared_ptr<Batch>> batches;
    for (int64_t iteration = 0; iteration < 5; ++iteration)
      batches.push_back(submit(executor, iteration, 8));
    const int window = 8 * batches_ahead;
    wait_until([&] { return reading->num_reads >= window; });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(executor.samples_waiting() <= window + 3);
    CHECK(reading->num_reads <= window + 3 + 1);  // one more per thread, and one computes
    CHECK(executor.bytes_waiting() <= (window + 3) * 80);
    may_compute = true;
    for (const auto& batch : batches) CHECK(executor.wait(batch, kLong));
    CHECK_EQUAL(reading->num_reads.load(), 5 * 8);
  }
}

TEST(slow_reads_overlap) {
  std::atomic<int> num_begun{0};
  const auto slow = [&](SampleContext& sample) {
    ++num_begun;
    wait_until([&] { return num_begun >= 4; });  // sequential reads would never reach that
    number(1)(sample);
  };
  Executor executor(with_reading(std::make_shared<Reading>(1, slow), 4), 1, false);
  const auto batch = submit(executor, 0, 8);
  CHECK(executor.wait(batch, kLong));
  CHECK(holds_numbers(*batch, 2, 1));
}

TEST(failing_reads_are_tried_once_and_reported_once) {
  const auto source = std::make_shared<const std::string>("file");
  const auto fail_often = [&](SampleContext& sample) {
    sample.set_source(source);
    if (sample.key().sample % 3 == 1) throw std::runtime_error("unreadable");
    number(3)(sample);
  };
  for (int num_io_threads : {0, 3}) {
    const auto reading = std::make_shared<Reading>(2, fail_often);
    Executor executor(with_reading(reading, num_io_threads), 2, false);
    for (int64_t iteration = 0; iteration < 50; ++iteration) {
      const auto batch = submit(executor, 3 * iteration, 6);
      CHECK(executor.wait(batch, kLong));
      const auto failures = batch->failures();
      CHECK_EQUAL(failures.size(), 2u);
      CHECK_EQUAL(failures[0].sample, 1);
      CHECK_EQUAL(failures[1].message, "unreadable");
      CHECK_EQUAL(failures[1].source, "file");
    }
    CHECK_EQUAL(reading->num_reads.load(), 50 * 6);
    CHECK_EQUAL(executor.bytes_waiting(), 0);
  }
}

// What ran before the failure is kept, what comes after it never runs.
TEST(of_several_reads_the_first_failure_counts) {
  const auto good = std::make_shared<Reading>(1, number(2));
  const auto bad =
      std::make_shared<Reading>(1, [](SampleContext&) { throw std::runtime_error("unreadable"); });
  const auto last = std::make_shared<Reading>(1, number(2));
  std::vector<Instruction> reads(3);
  for (int i = 0; i < 3; ++i) {
    reads[i].op = std::vector<std::shared_ptr<const Operator>>{good, bad, last}[i];
    reads[i].outputs = {i};
    reads[i].node = i;
  }
  Plan several = plan({program(reads)}, {0, 1, 2}, 3);
  several.num_io_threads = 2;
  Executor executor(several, 1, false);
  const auto batch = submit(executor, 0, 5);
  CHECK(executor.wait(batch, kLong));
  CHECK_EQUAL(batch->failures().size(), 5u);
  CHECK_EQUAL(batch->failures()[4].node, 1);
  CHECK_EQUAL(good->num_reads.load(), 5);
  CHECK_EQUAL(bad->num_reads.load(), 5);
  CHECK_EQUAL(last->num_reads.load(), 0);
  CHECK_EQUAL(executor.bytes_waiting(), 0);
}

TEST(cancelling_and_closing_while_reading_ahead) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const auto reading = std::make_shared<Reading>(1 + static_cast<int>(random() % 3), number(50));
    Executor executor(with_reading(reading, 3), 1 + static_cast<int>(random() % 3), false);
    int64_t iteration = 0;
    for (int turn = 0; turn < 3; ++turn) {
      std::vector<std::shared_ptr<Batch>> batches;
      for (unsigned i = 0; i < random() % 5; ++i)
        batches.push_back(submit(executor, iteration++, 5));
      if (random() % 2) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
      executor.cancel();
      CHECK_EQUAL(executor.samples_waiting(), 0);
      CHECK_EQUAL(executor.bytes_waiting(), 0);
      const auto batch = submit(executor, iteration++, 5);
      if (turn < 2) {
        CHECK(executor.wait(batch, kLong));
        CHECK(holds_numbers(*batch, 2, 1));
      }
    }
    executor.close();
    CHECK_EQUAL(executor.pool().idle_bytes(), 0u);
  }
}

TEST(a_step_may_decide_the_size_before_anything_is_read) {
  Instruction read;
  read.op = std::make_shared<Reading>(1, number(2));
  read.outputs = {0};
  Plan sized = plan({step(), program({read})}, {0}, 1);
  sized.num_io_threads = 2;
  Executor executor(sized, 2, false);
  for (int64_t iteration = 0; iteration < 30; ++iteration) {
    const auto batch = submit(executor, iteration, 8);
    const StepTask task = executor.next_step(kLong);
    batch->shrink(static_cast<int>(iteration % 9));
    executor.finish_step(task);
    CHECK(executor.wait(batch, kLong));
    CHECK(holds_numbers(*batch, 0, 0));
    CHECK_EQUAL(batch->values[0].size(), static_cast<size_t>(iteration % 9));
  }
}
