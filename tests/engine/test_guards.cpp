// Conditional instructions: skipped as a whole, alone or in groups, and joined again.
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "check.hpp"
#include "plans.hpp"

using namespace dali_core;

namespace {

// Whether `rule` holds for the number of the sample.
std::function<void(SampleContext&)> condition(std::function<bool(uint64_t)> rule) {
  return [rule = std::move(rule)](SampleContext& sample) {
    take_a_while(sample);
    *sample.output(0, DataType::kBool, Shape{}).as<bool>() = rule(sample.key().sample);
  };
}

bool is_even(uint64_t number) { return number % 2 == 0; }

Instruction when(std::vector<Guard> guards, Instruction instruction) {
  instruction.guards = std::move(guards);
  return instruction;
}

// Inputs: a condition, the value where it is true, the value where it is false.
void join(SampleContext& sample) {
  sample.forward(0, sample.input(*sample.input(0).as<bool>() ? 1 : 2));
}

Instruction joined(Instruction instruction, int row = 0) {
  instruction.joined = row;
  return instruction;
}

std::shared_ptr<Batch> run(Executor& executor, int size) {
  std::shared_ptr<Batch> batch = submit(executor, 0, size);
  CHECK(executor.wait(batch, kLong));
  return batch;
}

}  // namespace

TEST(guarded_instructions_run_for_selected_samples) {
  std::atomic<int> calls{0};
  const auto count = [&](SampleContext& sample) {
    ++calls;
    add_one(sample);
  };
  Executor executor(
      plan({program({instruction(condition(is_even), {}, {0}), instruction(number(2), {}, {1}),
                     when({{0, true}}, instruction(count, {1}, {2}, {1})),
                     when({{0, true}}, instruction(count, {2}, {3}))})},
           {0}, 4),
      2, false);
  const auto batch = run(executor, 7);
  CHECK_EQUAL(calls.load(), 8);
  for (int i = 0; i < 7; ++i) {
    CHECK_EQUAL(batch->values[3][i].storage != nullptr, is_even(batch->keys[i].sample));
    CHECK(batch->values[1][i].storage == nullptr);  // released, whether or not the reader ran
  }
}

TEST(nested_conditions_are_evaluated_only_if_taken) {
  const auto only_even = [](SampleContext& sample) {
    if (!is_even(sample.key().sample)) throw std::runtime_error("odd");
    *sample.output(0, DataType::kBool, Shape{}).as<bool>() = sample.key().sample % 4 == 0;
  };
  Executor executor(plan({program({instruction(condition(is_even), {}, {0}),
                                   when({{0, true}}, instruction(only_even, {}, {1})),
                                   when({{0, true}, {1, true}}, instruction(number(1), {}, {2})),
                                   when({{0, true}, {1, false}}, instruction(number(2), {}, {3})),
                                   when({{0, false}}, instruction(number(3), {}, {4}))})},
                         {0}, 5),
                    2, false);
  const auto batch = run(executor, 9);
  CHECK(!batch->failed());
  for (int i = 0; i < 9; ++i) {
    const uint64_t id = batch->keys[i].sample;
    CHECK_EQUAL(batch->values[2][i].storage != nullptr, id % 4 == 0);
    CHECK_EQUAL(batch->values[3][i].storage != nullptr, id % 4 == 2);
    CHECK_EQUAL(batch->values[4][i].storage != nullptr, id % 2 == 1);
  }
}

TEST(branches_write_into_the_joined_output) {
  std::vector<void*> written(6);
  const auto write = [&](SampleContext& sample) {
    Tensor& output = sample.output(0, DataType::kInt64, {5});
    std::fill_n(output.as<int64_t>(), 5, static_cast<int64_t>(sample.key().sample));
    written[sample.key().sample % 1000] = output.data;
  };
  Plan both = plan({program({instruction(condition(is_even), {}, {0}),
                             when({{0, true}}, instruction(write, {}, {1})),
                             when({{0, false}}, instruction(write, {}, {2})),
                             joined(instruction(join, {0, 1, 2}, {3}, {1, 2}))})},
                   {3}, 4);
  both.joined_outputs = {{1, 2}};
  both.num_joined = 1;
  Executor executor(std::move(both), 2, false);
  for (int iteration = 0; iteration < 3; ++iteration) {
    const auto batch = submit(executor, iteration, 6);
    CHECK(executor.wait(batch, kLong));
    CHECK(batch->contiguous[0]);
    CHECK(holds_numbers(*batch, 3, 0));
    CHECK(batch->values[1][0].storage == nullptr);
    // The sizes of samples are unknown before the first batch.
    for (int i = 0; i < 6; ++i) CHECK_EQUAL(batch->values[3][i].data == written[i], iteration > 0);
  }
}

TEST(joined_values_must_have_equal_types) {
  const auto real = [](SampleContext& sample) {
    *sample.output(0, DataType::kFloat, {1}).as<float>() = 1;
  };
  Plan both = plan({program({instruction(condition(is_even), {}, {0}),
                             when({{0, true}}, instruction(number(1), {}, {1})),
                             when({{0, false}}, instruction(real, {}, {2})),
                             joined(instruction(join, {0, 1, 2}, {3}, {1, 2}, 7))})},
                   {0}, 4);
  both.num_joined = 1;
  Executor executor(std::move(both), 3, false);
  const auto batch = run(executor, 5);
  const auto failures = batch->failures();
  CHECK_EQUAL(failures.size(), 1u);
  CHECK_EQUAL(failures[0].sample, 1);
  CHECK_EQUAL(failures[0].node, 7);
  CHECK(failures[0].message.find("float32") != std::string::npos);
  CHECK(!run(executor, 1)->failed());
}

TEST(a_group_is_a_batch_of_its_own) {
  struct Reversed : Operator {
    void run(SampleContext& sample) const override {
      const int other = sample.batch_size() - 1 - sample.index_in_batch();
      sample.forward(0, sample.input_of_sample(0, other));
    }
    bool reads_batch() const override { return true; }
  };
  Instruction reversed;
  reversed.op = std::make_shared<Reversed>();
  reversed.inputs = {1};
  reversed.outputs = {2};
  reversed.guards = {{0, true}};
  reversed.reads_group = true;
  Executor executor(
      plan({program({instruction(condition(is_even), {}, {0}), instruction(number(1), {}, {1})}),
            program({reversed})},
           {0}, 3),
      2, false);
  const auto batch = run(executor, 8);
  CHECK(!batch->failed());
  for (int i = 0; i < 8; i += 2) CHECK_EQUAL(*batch->values[2][i].as<int64_t>(), 6 - i);
  for (int i = 1; i < 8; i += 2) CHECK(batch->values[2][i].storage == nullptr);
  CHECK(SampleProgram::passing({{0, false}}, *batch) == (std::vector<int>{1, 3, 5, 7}));
}

TEST(another_sample_may_take_another_branch) {
  // Index 2 fails in its branch; its replacement, index 3, takes the other one.
  const auto read = [](SampleContext& sample) {
    *sample.output(0, DataType::kInt64, {1}).as<int64_t>() = sample.reader_index(0);
  };
  const auto even = [](SampleContext& sample) {
    *sample.output(0, DataType::kBool, Shape{}).as<bool>() =
        *sample.input(0).as<int64_t>() % 2 == 0;
  };
  const auto fail_on_two = [](SampleContext& sample) {
    if (*sample.input(0).as<int64_t>() == 2) throw std::runtime_error("two");
    sample.forward(0, sample.input(0));
  };
  std::vector<Instruction> instructions{instruction(read, {}, {0}), instruction(even, {0}, {1}),
                                        when({{1, true}}, instruction(fail_on_two, {0}, {2})),
                                        when({{1, false}}, instruction(add_one, {0}, {3})),
                                        joined(instruction(join, {1, 2, 3}, {4}))};
  for (Instruction& one : instructions) one.from_reader = true;
  Plan both = plan({program(std::move(instructions))}, {4}, 5);
  both.num_joined = both.num_readers = 1;
  both.replaces_failed = true;
  Executor executor(std::move(both), 2, false);
  std::shared_ptr<Batch> batch = executor.make_batch(0, 4);
  ReaderRun order;
  order.length = order.shard_size = 4;
  batch->set_runs(0, {order});
  executor.submit(batch);
  CHECK(executor.wait(batch, kLong));
  CHECK(!batch->failed());
  const std::vector<int64_t> expected{0, 2, 4, 4};
  for (int i = 0; i < 4; ++i) CHECK_EQUAL(*batch->values[4][i].as<int64_t>(), expected[i]);
  CHECK_EQUAL(batch->replaced().size(), 1u);
}
