// Executor: batches in flight, order of steps, dense outputs, failures, cancelling and closing.
#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "check.hpp"
#include "plans.hpp"

using namespace dali_core;

namespace {

Plan two_programs(int64_t count) {
  return plan({program({instruction(number(count), {}, {0})}),
               program({instruction(add_one, {0}, {1}, {0})})},
              {1}, 2);
}

// A program, a step, a program, a step: value 3 is the sample's number plus 3.
Plan with_steps() {
  return plan({program({instruction(number(3), {}, {0})}), step(),
               program({instruction(add_one, {1}, {2})}), step()},
              {3}, 4);
}

// Like a step in Python: new values from old ones.
void run_step(Executor& executor, const StepTask& task) {
  const int input = task.stage - 1, output = task.stage;
  std::vector<Tensor> results = task.batch->values[input];
  executor.copy_in(results);
  for (Tensor& tensor : results)
    for (int64_t k = 0; k < tensor.num_elements(); ++k) ++tensor.as<int64_t>()[k];
  task.batch->values[output] = std::move(results);
  executor.finish_step(task);
}

class StepThread {
 public:
  explicit StepThread(Executor& executor) : executor_(executor), thread_([this] { work(); }) {}
  ~StepThread() {
    stopping_ = true;
    thread_.join();
  }
  std::map<int, std::vector<int64_t>> iterations;  // [stage], complete once the batches are done

 private:
  void work() {
    while (!stopping_ && !executor_.closed()) {
      const StepTask task = executor_.next_step(0.005);
      if (!task.batch) continue;
      iterations[task.stage].push_back(task.batch->iteration);
      run_step(executor_, task);
    }
  }
  Executor& executor_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace

TEST(many_batches_are_in_flight_and_none_is_overwritten) {
  for (int num_threads : {1, 2, 5}) {
    Executor executor(two_programs(5), num_threads, false);
    std::deque<std::shared_ptr<Batch>> in_flight;
    std::vector<std::shared_ptr<Batch>> kept;
    for (int64_t iteration = 0; iteration < 100; ++iteration) {
      in_flight.push_back(submit(executor, iteration, 1 + static_cast<int>(iteration % 9)));
      if (in_flight.size() < 8) continue;
      CHECK(executor.wait(in_flight.front(), kLong));
      kept.push_back(in_flight.front());
      in_flight.pop_front();
    }
    for (const auto& batch : kept) {
      CHECK(!batch->failed());
      CHECK(batch->contiguous[0]);
      CHECK(holds_numbers(*batch, 1, 1));
    }
  }
}

namespace {

constexpr size_t kSampleBytes = 8192, kBatchBytes = 32768;  // blocks for 8,000 and 32,000 bytes

// Waits until only the caller references a batch. Workers release it soon after it is complete.
void wait_for_workers(const std::shared_ptr<Batch>& batch) {
  while (batch.use_count() > 1) std::this_thread::yield();
}

size_t all_bytes(Executor& executor) {
  return executor.pool().used_bytes() + executor.pool().idle_bytes();
}

}  // namespace

TEST(memory_does_not_grow) {
  constexpr size_t kSamples = 4;
  for (size_t num_threads : {1, 2}) {
    Executor executor(two_programs(1000), static_cast<int>(num_threads), false);
    size_t early = 0;
    for (int64_t iteration = 0; iteration < 200; ++iteration) {
      const auto batch = submit(executor, iteration, kSamples);
      CHECK(executor.wait(batch, kLong));
      wait_for_workers(batch);
      // The first batch has a block for each sample, and one more for each thread that computes the
      // second value from the first. From then on, samples are contiguous in one buffer.
      const size_t total = all_bytes(executor);
      CHECK(total > kSamples * kSampleBytes + kBatchBytes);
      CHECK(total <= (kSamples + num_threads) * kSampleBytes + kBatchBytes);
      if (iteration == 20) early = total;
      if (iteration >= 20) CHECK(total <= early + (num_threads - 1) * kSampleBytes);
    }
    executor.close();
    CHECK_EQUAL(executor.pool().idle_bytes(), 0u);
  }
}

// Why the test above waits for the workers: memory is that of all referenced batches, including
// those that a worker has completed and not yet released.
TEST(each_batch_that_is_held_costs_its_memory) {
  constexpr size_t kSamples = 4;
  for (size_t num_held : {0, 1, 2, 7}) {
    Executor executor(two_programs(1000), 1, false);
    std::deque<std::shared_ptr<Batch>> held;
    for (int64_t iteration = 0; iteration < 50; ++iteration) {
      auto batch = submit(executor, iteration, kSamples);
      CHECK(executor.wait(batch, kLong));
      wait_for_workers(batch);
      held.push_back(std::move(batch));
      if (held.size() > num_held) held.pop_front();
    }
    CHECK_EQUAL(all_bytes(executor), (kSamples + 1) * kSampleBytes + (num_held + 1) * kBatchBytes);
  }
}

TEST(uniform_outputs_become_dense_and_then_are_written_in_place) {
  const auto where = [](SampleContext& sample) {
    int64_t* out = sample.output(0, DataType::kInt64, {3}).as<int64_t>();
    out[0] = reinterpret_cast<int64_t>(out);
  };
  Executor executor(plan({program({instruction(where, {}, {0})})}, {0}, 1), 2, false);
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    const auto batch = submit(executor, iteration, 5);
    CHECK(executor.wait(batch, kLong));
    CHECK(batch->contiguous[0]);
    const char* const first = batch->values[0][0].as<char>();
    for (int i = 0; i < 5; ++i) {
      const Tensor& tensor = batch->values[0][i];
      CHECK(tensor.as<char>() == first + i * 3 * sizeof(int64_t));
      const bool in_place = *tensor.as<int64_t>() == reinterpret_cast<int64_t>(tensor.data);
      CHECK_EQUAL(in_place, iteration > 0);
    }
  }
}

TEST(shapes_may_change_from_sample_to_sample_and_batch_to_batch) {
  const auto any_shape = [](SampleContext& sample) {
    const uint64_t iteration = sample.key().sample / 1000;
    number(iteration % 3 == 2 ? 1 + static_cast<int64_t>(sample.key().sample % 4)
                              : static_cast<int64_t>(iteration % 3))(sample);
  };
  Executor executor(plan({program({instruction(any_shape, {}, {0})})}, {0}, 1), 3, false);
  std::vector<std::shared_ptr<Batch>> batches;
  for (int64_t iteration = 0; iteration < 40; ++iteration)
    batches.push_back(submit(executor, iteration, 6));
  for (const auto& batch : batches) {
    CHECK(executor.wait(batch, kLong));
    CHECK_EQUAL(static_cast<bool>(batch->contiguous[0]), batch->iteration % 3 != 2);
    CHECK(holds_numbers(*batch, 0, 0));
  }
}

TEST(one_value_may_be_several_outputs) {
  const auto pass = [](SampleContext& sample) { sample.forward(0, sample.input(0)); };
  Executor executor(
      plan({program({instruction(number(2), {}, {0}), instruction(pass, {0}, {1})})}, {0, 1, 0}, 2),
      2, false);
  for (int64_t iteration = 0; iteration < 5; ++iteration) {
    const auto batch = submit(executor, iteration, 4);
    CHECK(executor.wait(batch, kLong));
    for (int output : {0, 1, 2}) CHECK(batch->contiguous[output]);
    CHECK(holds_numbers(*batch, 0, 0) && holds_numbers(*batch, 1, 0));
  }
}

TEST(empty_batches_and_plans_without_outputs_are_done_at_once) {
  Executor executor(two_programs(3), 2, false);
  const auto batch = submit(executor, 0, 0);
  CHECK(executor.wait(batch, 0));
  CHECK(!batch->failed());
  Executor idle(plan({program({instruction(number(1), {}, {0}, {0})})}, {}, 1), 2, false);
  CHECK(idle.wait(submit(idle, 0, 10), kLong));
}

TEST(failing_samples_end_their_batch_only) {
  const auto fail_often = [](SampleContext& sample) {
    take_a_while(sample);
    const uint64_t iteration = sample.key().sample / 1000, index = sample.key().sample % 1000;
    if (iteration % 2 && index % 3 == 1) throw std::runtime_error(std::to_string(index));
    add_one(sample);
  };
  Executor executor(plan({program({instruction(number(2), {}, {0})}),
                          program({instruction(fail_often, {0}, {1}, {}, 4)}),
                          program({instruction(add_one, {1}, {2}, {}, 5)})},
                         {2}, 3),
                    3, false);
  std::vector<std::shared_ptr<Batch>> batches;
  for (int64_t iteration = 0; iteration < 50; ++iteration)
    batches.push_back(submit(executor, iteration, 8));
  for (const auto& batch : batches) {
    CHECK(executor.wait(batch, kLong));
    if (batch->iteration % 2 == 0) {
      CHECK(!batch->failed() && holds_numbers(*batch, 2, 2));
      continue;
    }
    const auto failures = batch->failures();
    CHECK_EQUAL(failures.size(), 3u);
    for (int i = 0; i < 3; ++i) {
      CHECK_EQUAL(failures[i].sample, 3 * i + 1);
      CHECK_EQUAL(failures[i].message, std::to_string(3 * i + 1));
      CHECK_EQUAL(failures[i].node, 4);
    }
  }
}

TEST(lack_of_memory_for_the_dense_output_is_a_failure) {
  // A dense batch of these exceeds the address space.
  const auto pretend = [](SampleContext& sample) {
    Tensor huge;
    huge.type = DataType::kUInt8;
    huge.shape = {int64_t{1} << 50};
    if (sample.key().sample < 1000)
      sample.forward(0, huge);
    else
      number(1)(sample);
  };
  Executor executor(plan({program({instruction(pretend, {}, {0})})}, {0}, 1), 2, false);
  const auto batch = submit(executor, 0, 512);
  CHECK(executor.wait(batch, kLong));
  CHECK(batch->failures().at(0).message.find("memory must be available") == 0);
  const auto next = submit(executor, 2000, 4);
  CHECK(executor.wait(next, kLong));
  CHECK(!next->failed());
}

TEST(steps_see_all_batches_in_their_order) {
  Executor executor(with_steps(), 3, false);
  std::vector<std::shared_ptr<Batch>> batches;
  std::map<int, std::vector<int64_t>> iterations;
  {
    StepThread thread(executor);
    for (int64_t iteration = 0; iteration < 60; ++iteration)
      batches.push_back(submit(executor, iteration, static_cast<int>(iteration % 5)));
    for (const auto& batch : batches) CHECK(executor.wait(batch, kLong));
    CHECK(executor.wait_for_steps(kLong));
    executor.close();
    iterations = thread.iterations;
  }
  for (const auto& batch : batches) CHECK(holds_numbers(*batch, 3, 3));
  for (int stage : {1, 3}) {
    CHECK_EQUAL(iterations[stage].size(), 60u);
    for (int64_t i = 0; i < 60; ++i) CHECK_EQUAL(iterations[stage][i], i);
  }
}

TEST(waiting_thread_runs_the_steps) {
  Executor executor(with_steps(), 2, false);
  std::deque<std::shared_ptr<Batch>> in_flight;
  for (int64_t iteration = 0; iteration < 30; ++iteration) {
    in_flight.push_back(submit(executor, iteration, 3));
    if (in_flight.size() < 4) continue;
    const auto batch = in_flight.front();
    in_flight.pop_front();
    while (!executor.wait(batch, 0)) {
      const StepTask task = executor.next_step(kLong, batch.get());
      if (task.batch) run_step(executor, task);
    }
    CHECK(holds_numbers(*batch, 3, 3));
  }
}

TEST(steps_are_for_the_caller_or_for_others) {
  Stage called = step();
  called.by_caller = true;
  Executor executor(plan({called, step()}, {}, 0), 1, false);
  const auto first = submit(executor, 0, 1), second = submit(executor, 1, 1);
  CHECK(!executor.next_step(0, nullptr, StepsFor::kOthers).batch);
  StepTask task = executor.next_step(kLong, nullptr, StepsFor::kCaller);
  CHECK(task.batch == first && task.stage == 0);
  executor.finish_step(task);
  // The caller's step of the next batch does not wait for the others of this one.
  task = executor.next_step(kLong, nullptr, StepsFor::kCaller);
  CHECK(task.batch == second && task.stage == 0);
  executor.finish_step(task);
  CHECK(!executor.next_step(0, nullptr, StepsFor::kCaller).batch);
  for (const auto& batch : {first, second}) {
    task = executor.next_step(kLong, nullptr, StepsFor::kOthers);
    CHECK(task.batch == batch && task.stage == 1);
    executor.finish_step(task);
    CHECK(executor.wait(batch, kLong));
  }
}

TEST(a_step_may_shrink_the_batch) {
  Executor executor(plan({step(), program({instruction(add_one, {0}, {1})})}, {1}, 2), 2, false);
  for (int64_t iteration = 0; iteration < 20; ++iteration) {
    const auto batch = submit(executor, iteration, 8);
    const StepTask task = executor.next_step(kLong);
    CHECK(task.batch == batch);
    const int size = static_cast<int>(iteration % 9);
    batch->shrink(size);
    for (int i = 0; i < size; ++i) {
      Tensor& tensor = batch->values[0][i];
      tensor.storage = executor.pool().allocate(8);
      tensor.data = tensor.storage.get();
      tensor.type = DataType::kInt64;
      *tensor.as<int64_t>() = iteration * 1000 + i;
    }
    executor.finish_step(task);
    CHECK(executor.wait(batch, kLong));
    CHECK_EQUAL(batch->values[1].size(), static_cast<size_t>(size));
    CHECK(holds_numbers(*batch, 1, 1));
  }
}

TEST(a_failing_step_ends_its_batch) {
  Executor executor(with_steps(), 2, false);
  const auto bad = submit(executor, 0, 3), good = submit(executor, 1, 3);
  StepTask task = executor.next_step(kLong);
  task.batch->fail({-1, 1, "no", ""});
  executor.finish_step(task);
  CHECK(executor.wait(bad, kLong) && bad->failed());
  while (!executor.wait(good, 0)) {
    task = executor.next_step(kLong, good.get());
    if (task.batch) run_step(executor, task);
  }
  CHECK(!good->failed() && holds_numbers(*good, 3, 3));
}

TEST(cancelling_at_any_time_leaves_a_usable_executor) {
  std::mt19937 random(1);
  Executor executor(with_steps(), 3, false);
  StepThread thread(executor);
  int64_t iteration = 0;
  for (int round = 0; round < 150; ++round) {
    std::vector<std::shared_ptr<Batch>> batches;
    for (unsigned i = 0; i < 1 + random() % 6; ++i)
      batches.push_back(submit(executor, iteration++, 4));
    if (random() % 2) std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
    executor.cancel();
    for (const auto& batch : batches) CHECK(executor.wait(batch, 0) || batch->cancelled);
    CHECK(executor.wait_for_steps(kLong));
    const auto batch = submit(executor, iteration++, 4);
    CHECK(executor.wait(batch, kLong));
    CHECK(holds_numbers(*batch, 3, 3));
  }
}

TEST(cancelled_batch_wakes_its_waiters) {
  Executor executor(plan({step()}, {}, 0), 1, false);
  const auto batch = submit(executor, 0, 1);
  std::thread other([&] { executor.cancel(); });
  CHECK(!executor.wait(batch, kLong));
  CHECK(batch->cancelled);
  other.join();
}

TEST(closing_at_any_time_ends_all_threads) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    Executor executor(with_steps(), 1 + static_cast<int>(random() % 4), random() % 2);
    StepThread thread(executor);
    std::vector<std::shared_ptr<Batch>> batches;
    for (unsigned i = 0; i < random() % 6; ++i)
      batches.push_back(submit(executor, i, static_cast<int>(random() % 5)));
    if (random() % 2) std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
    executor.close();
    CHECK(executor.closed());
    for (const auto& batch : batches)
      CHECK(!executor.wait(batch, 0) || holds_numbers(*batch, 3, 3));
    executor.close();
    CHECK(!executor.wait(submit(executor, 99, 2), 0));
  }
}

TEST(close_wakes_all_waiters) {
  Executor executor(plan({step()}, {}, 0), 1, false);
  const auto batch = submit(executor, 0, 1);
  const StepTask taken = executor.next_step(kLong);
  CHECK(taken.batch == batch);
  std::atomic<int> woken{0};
  std::vector<std::thread> waiting;
  waiting.emplace_back([&] { woken += !executor.wait(batch, kLong); });
  waiting.emplace_back([&] { woken += !executor.next_step(kLong).batch; });
  executor.close();
  for (auto& thread : waiting) thread.join();
  CHECK_EQUAL(woken.load(), 2);
  executor.finish_step(taken);
  CHECK(executor.wait_for_steps(0));
}

TEST(wait_returns_after_timeout) {
  Executor executor(plan({step()}, {}, 0), 1, false);
  const auto batch = submit(executor, 0, 1);
  CHECK(!executor.wait(batch, 0.01));
  CHECK(executor.next_step(kLong).batch == batch);
  CHECK(!executor.next_step(0.01).batch);
  CHECK(!executor.wait_for_steps(0.01));
}

TEST(outputs_outlive_the_executor) {
  std::shared_ptr<Batch> batch;
  {
    Executor executor(two_programs(3), 2, false);
    batch = submit(executor, 0, 4);
    CHECK(executor.wait(batch, kLong));
  }
  CHECK(holds_numbers(*batch, 1, 1));
}

TEST(copies_are_aligned_and_independent) {
  Executor executor(two_programs(1), 1, false);
  std::vector<int64_t> original{1, 2, 3};
  std::vector<Tensor> tensors(3);
  for (int i = 0; i < 3; ++i) {
    tensors[i].type = DataType::kInt64;
    tensors[i].shape = {i};
    tensors[i].data = i ? original.data() : nullptr;
  }
  executor.copy_in(tensors);
  original.assign(3, 0);
  for (const Tensor& tensor : tensors)
    CHECK(reinterpret_cast<std::uintptr_t>(tensor.data) % kAlignment == 0);
  CHECK_EQUAL(tensors[2].as<int64_t>()[1], 2);
}
