// Bad samples: replacements, in a reader's program and after it.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "plans.hpp"

using namespace dali_core;

namespace {

// Returns the reader's index, unless it is one of the bad ones.
std::function<void(SampleContext&)> read_index(std::vector<int64_t> bad, int reader = 0) {
  return [bad = std::move(bad), reader](SampleContext& sample) {
    take_a_while(sample);
    const int64_t index = sample.reader_index(reader);
    for (int64_t other : bad)
      if (index == other) throw std::runtime_error("bad " + std::to_string(index));
    *sample.output(0, DataType::kInt64, {1}).as<int64_t>() = index;
  };
}

Instruction from_reader(Instruction instruction) {
  instruction.from_reader = true;
  return instruction;
}

Plan replacing(std::vector<Stage> stages, std::vector<int> outputs, int num_values,
               int num_readers) {
  Plan result = plan(std::move(stages), std::move(outputs), num_values);
  result.num_readers = num_readers;
  result.replaces_failed = true;
  return result;
}

// Positions `first` to `first + size - 1` of the part [begin, begin + count) of the order.
std::shared_ptr<Batch> submit_run(Executor& executor, int64_t iteration, int size, uint64_t first,
                                  uint64_t begin, uint64_t count) {
  std::shared_ptr<Batch> batch = executor.make_batch(iteration, size);
  ReaderRun run;
  run.first = first;
  run.length = static_cast<uint64_t>(size);
  run.shard_first = begin;
  run.shard_size = count;
  for (int reader = 0; reader < executor.plan().num_readers; ++reader)
    batch->set_runs(reader, {run});
  executor.submit(batch);
  return batch;
}

std::vector<int64_t> elements(const Batch& batch, int value) {
  std::vector<int64_t> found;
  for (const Tensor& tensor : batch.values[value]) found.push_back(*tensor.as<int64_t>());
  return found;
}

}  // namespace

TEST(next_sample_of_the_shard_is_the_replacement) {
  for (int num_threads : {1, 3}) {
    Executor executor(
        replacing({program({from_reader(instruction(read_index({12, 13, 19}), {}, {0})),
                            from_reader(instruction(add_one, {0}, {1}, {0}))})},
                  {1}, 2, 1),
        num_threads, false);
    for (int64_t iteration = 0; iteration < 20; ++iteration) {
      const auto batch = submit_run(executor, iteration, 10, 10, 10, 10);
      CHECK(executor.wait(batch, kLong));
      CHECK(!batch->failed());
      CHECK((elements(*batch, 1) == std::vector<int64_t>{11, 12, 15, 15, 15, 16, 17, 18, 19, 11}));
      CHECK(batch->contiguous[0]);
      const auto replaced = batch->replaced();
      CHECK_EQUAL(replaced.size(), 3u);
      CHECK_EQUAL(replaced[1].sample, 3);
      CHECK_EQUAL(replaced[2].message, "bad 19");
      CHECK_EQUAL(batch->keys[9].sample, 19u);
    }
  }
}

TEST(readers_move_together) {
  Executor executor(replacing({program({from_reader(instruction(read_index({1}), {}, {0})),
                                        from_reader(instruction(read_index({3}, 1), {}, {1}))})},
                              {0, 1}, 2, 2),
                    2, false);
  const auto batch = submit_run(executor, 0, 5, 0, 0, 5);
  CHECK(executor.wait(batch, kLong));
  CHECK((elements(*batch, 0) == std::vector<int64_t>{0, 2, 2, 4, 4}));
  CHECK(elements(*batch, 1) == elements(*batch, 0));
}

TEST(batch_without_replacement_fails) {
  std::atomic<int> count{0};
  const auto fail = [&](SampleContext&) {
    ++count;
    throw std::runtime_error("always");
  };
  Executor executor(replacing({program({from_reader(instruction(fail, {}, {0}))})}, {0}, 1, 1), 2,
                    false);
  const auto small = submit_run(executor, 0, 2, 0, 0, 4);
  CHECK(executor.wait(small, kLong));
  CHECK_EQUAL(small->failures().size(), 2u);
  CHECK(small->failures()[0].message.find("None of the next 3") != std::string::npos);
  CHECK_EQUAL(count.load(), 8);
  const auto large = submit_run(executor, 1, 1, 0, 0, 1000);
  CHECK(executor.wait(large, kLong));
  CHECK_EQUAL(count.load(), 8 + 101);
}

// Values of another stage cannot be read again, so nothing of the sample may be.
TEST(where_not_all_is_read_at_once_whole_samples_of_the_batch_take_the_place) {
  const auto add_index = [](SampleContext& sample) {
    const int64_t index = sample.reader_index(0);
    if (index == 1) throw std::runtime_error("bad");
    *sample.output(0, DataType::kInt64, {1}).as<int64_t>() =
        100 * index + *sample.input(0).as<int64_t>();
  };
  Executor executor(replacing({program({instruction(number(1), {}, {0})}),
                               program({instruction(add_one, {0}, {1}),
                                        from_reader(instruction(add_index, {1}, {2}, {1}))})},
                              {0, 2}, 3, 1),
                    2, false);
  const auto batch = submit_run(executor, 0, 4, 0, 0, 10);
  CHECK(executor.wait(batch, kLong));
  CHECK(!batch->failed());
  CHECK((elements(*batch, 0) == std::vector<int64_t>{0, 2, 2, 3}));
  CHECK((elements(*batch, 2) == std::vector<int64_t>{1, 203, 203, 304}));
  CHECK_EQUAL(batch->replaced().size(), 1u);
}

TEST(copies_ignore_later_sources) {
  // A step that fails on a sample, one that returns numbers for all samples, and a program that
  // fails on the original of the copy.
  const auto fail_on_two = [](SampleContext& sample) {
    if (*sample.input(0).as<int64_t>() == 2) throw std::runtime_error("two");
    add_one(sample);
  };
  Stage source = step();
  source.is_source = true;
  Executor executor(
      replacing({source, source, program({instruction(fail_on_two, {1}, {2})})}, {0, 1, 2}, 3, 0),
      2, false);
  const auto batch = submit(executor, 0, 4);
  for (int value : {0, 1}) {
    const StepTask task = executor.next_step(kLong);
    CHECK_EQUAL(task.stage, value);
    for (int i = 0; i < 4; ++i) {
      Tensor& tensor = batch->values[value][i];
      tensor.storage = executor.pool().allocate(8);
      tensor.data = tensor.storage.get();
      tensor.type = DataType::kInt64;
      *tensor.as<int64_t>() = i;
    }
    if (value == 0) batch->fail({1, 0, "one", "", false});
    // The copy fails like its original, and does not count as bad again.
    if (value == 1) batch->fail({1, 0, "again", "", false});
    executor.finish_step(task);
  }
  CHECK(executor.wait(batch, kLong));
  CHECK(!batch->failed());
  for (int value : {0, 1}) CHECK((elements(*batch, value) == std::vector<int64_t>{0, 3, 3, 3}));
  CHECK((elements(*batch, 2) == std::vector<int64_t>{1, 4, 4, 4}));
  CHECK_EQUAL(batch->replaced().size(), 2u);
  CHECK_EQUAL(batch->replaced()[0].message, "one");
  CHECK_EQUAL(batch->replaced()[1].message, "two");
}

TEST(behind_the_reader_the_next_good_sample_of_the_batch_takes_the_place) {
  const auto fail_on = [](SampleContext& sample) {
    const int64_t value = *sample.input(0).as<int64_t>();
    if (value == 1 || value == 2 || value == 4) throw std::runtime_error(std::to_string(value));
    add_one(sample);
  };
  Executor executor(
      replacing({program({instruction(number(1), {}, {0})}),
                 program({instruction(add_one, {0}, {1}), instruction(fail_on, {0}, {2}, {}, 7)}),
                 program({instruction(add_one, {2}, {3}, {2})})},
                {0, 1, 3}, 4, 0),
      3, false);
  for (int round = 0; round < 50; ++round) {
    const auto batch = submit(executor, 0, 5);
    CHECK(executor.wait(batch, kLong));
    CHECK(!batch->failed());
    CHECK((elements(*batch, 0) == std::vector<int64_t>{0, 3, 3, 3, 0}));
    CHECK((elements(*batch, 1) == std::vector<int64_t>{1, 4, 4, 4, 1}));
    CHECK((elements(*batch, 3) == std::vector<int64_t>{2, 5, 5, 5, 2}));
    for (int output : {0, 1, 2}) CHECK(batch->contiguous[output]);
    CHECK_EQUAL(batch->replaced().size(), 3u);
    CHECK_EQUAL(batch->replaced()[0].node, 7);
  }
}

TEST(a_batch_without_a_good_sample_fails) {
  const auto fail = [](SampleContext&) { throw std::runtime_error("no"); };
  Executor executor(replacing({program({instruction(number(1), {}, {0})}),
                               program({instruction(fail, {0}, {1})})},
                              {1}, 2, 0),
                    2, false);
  const auto batch = submit(executor, 0, 3);
  CHECK(executor.wait(batch, kLong));
  CHECK_EQUAL(batch->failures().size(), 3u);
  CHECK(batch->replaced().empty());
}

TEST(step_failures_are_replaced_unless_final) {
  Executor executor(replacing({step()}, {0}, 1, 0), 1, false);
  for (bool is_final : {false, true}) {
    const auto batch = submit(executor, is_final, 3);
    const StepTask task = executor.next_step(kLong);
    for (int i = 0; i < 3; ++i) {
      Tensor& tensor = batch->values[0][i];
      tensor.storage = executor.pool().allocate(8);
      tensor.data = tensor.storage.get();
      tensor.type = DataType::kInt64;
      *tensor.as<int64_t>() = i;
    }
    batch->fail({1, 0, "one", "", is_final});
    executor.finish_step(task);
    CHECK(executor.wait(batch, kLong));
    CHECK_EQUAL(batch->failed(), is_final);
    if (!is_final) CHECK((elements(*batch, 0) == std::vector<int64_t>{0, 2, 2}));
  }
}

TEST(cancelling_ends_the_search) {
  std::atomic<int> count{0};
  const auto fail = [&](SampleContext&) {
    ++count;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw std::runtime_error("slow");
  };
  Executor executor(replacing({program({from_reader(instruction(fail, {}, {0}))})}, {0}, 1, 1), 1,
                    false);
  const auto batch = submit_run(executor, 0, 1, 0, 0, 1000000);
  while (count == 0) std::this_thread::yield();
  executor.cancel();
  CHECK(batch->cancelled);
  CHECK(count.load() < 500000);  // however late this thread came
}
