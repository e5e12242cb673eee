// SampleProgram: values, errors, releases, sources, and outputs written in place.
#include <new>
#include <string>

#include "check.hpp"
#include "plans.hpp"
#include "sample_program.hpp"

using namespace dali_core;

namespace {

struct Fixture {
  explicit Fixture(int num_values, std::vector<int> outputs = {})
      : batch(0, 3, num_values, 0, 1, static_cast<int>(outputs.size())) {
    batch.output_of_value.assign(num_values, -1);
    for (size_t i = 0; i < outputs.size(); ++i)
      batch.output_of_value[outputs[i]] = static_cast<int>(i);
    for (int i = 0; i < 3; ++i) batch.keys[i].sample = static_cast<uint64_t>(10 * i);
  }

  void run(std::vector<Instruction> instructions) {
    const SampleProgram program(std::move(instructions));
    for (int i = 0; i < batch.size(); ++i) program.run(batch, i, worker);
  }

  std::shared_ptr<BufferPool> pool = BufferPool::create();
  ThreadTimes times{8};
  Worker worker{*pool, times};
  Batch batch;
};

}  // namespace

TEST(instructions_run_in_their_order) {
  Fixture fixture(3);
  fixture.run({instruction(number(4), {}, {0}), instruction(add_one, {0}, {1}),
               instruction(add_one, {1}, {2})});
  CHECK(!fixture.batch.failed());
  CHECK(holds_numbers(fixture.batch, 0, 0));
  CHECK(holds_numbers(fixture.batch, 2, 2));
}

TEST(values_are_released_after_their_last_use) {
  Fixture fixture(2);
  fixture.run({instruction(number(100), {}, {0}), instruction(add_one, {0}, {1}, {0})});
  for (const Tensor& tensor : fixture.batch.values[0]) CHECK(tensor.storage == nullptr);
  CHECK(fixture.pool->used_bytes() < 6 * 1000);
}

TEST(the_first_failing_instruction_ends_the_sample) {
  Fixture fixture(3);
  const auto fail_on_ten = [](SampleContext& sample) {
    if (sample.key().sample == 10) throw std::invalid_argument("ten is not allowed");
    add_one(sample);
  };
  fixture.run({instruction(number(2), {}, {0}), instruction(fail_on_ten, {0}, {1}, {}, 5),
               instruction(add_one, {1}, {2}, {}, 6)});
  const auto failures = fixture.batch.failures();
  CHECK_EQUAL(failures.size(), 1u);
  CHECK_EQUAL(failures[0].sample, 1);
  CHECK_EQUAL(failures[0].node, 5);
  CHECK_EQUAL(failures[0].message, "ten is not allowed");
  CHECK(fixture.batch.values[0][1].storage == nullptr);
  CHECK_EQUAL(fixture.batch.values[2][0].as<int64_t>()[1], 2);
  CHECK_EQUAL(fixture.batch.values[2][2].as<int64_t>()[1], 22);
}

TEST(failures_are_sorted_by_sample) {
  Fixture fixture(1);
  for (int sample : {2, 0, 1}) fixture.batch.fail({sample, 0, std::to_string(sample), ""});
  const auto failures = fixture.batch.failures();
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(failures[i].sample, i);
}

TEST(bad_alloc_and_unknown_exceptions_are_failures) {
  Fixture fixture(1);
  fixture.run({instruction(
      [](SampleContext& sample) {
        if (sample.key().sample == 0) sample.output(0, DataType::kUInt8, {int64_t{1} << 46});
        if (sample.key().sample == 10) throw 42;
        if (sample.key().sample == 20) throw std::bad_alloc();
      },
      {}, {0}, {}, 3)});
  const auto failures = fixture.batch.failures();
  CHECK_EQUAL(failures.size(), 3u);
  CHECK(failures[0].message.find("memory must be available") == 0);
  CHECK(failures[1].message.find("std::exception") != std::string::npos);
  CHECK(failures[2].message.find("memory must be available") == 0);
  for (const auto& failure : failures) CHECK_EQUAL(failure.node, 3);
}

TEST(the_source_is_inherited_and_reported) {
  Fixture fixture(3);
  const auto read = [](SampleContext& sample) {
    sample.set_source(std::make_shared<const std::string>("file"));
    number(1)(sample);
  };
  const auto fail = [](SampleContext& sample) {
    if (sample.key().sample == 20) throw std::runtime_error("bad");
    add_one(sample);
  };
  fixture.run(
      {instruction(read, {}, {0}), instruction(add_one, {0}, {1}), instruction(fail, {1}, {2})});
  CHECK_EQUAL(*fixture.batch.values[2][0].source, "file");
  CHECK_EQUAL(fixture.batch.failures().at(0).source, "file");
}

TEST(outputs_are_written_in_place_where_they_fit) {
  Fixture fixture(2, {1});
  DenseOutput& dense = fixture.batch.dense[0];
  dense.type = DataType::kInt64;
  dense.shape = {4};
  dense.sample_bytes = 32;
  dense.storage = fixture.pool->allocate(3 * 32);
  const auto odd_one_out = [](SampleContext& sample) {
    number(sample.key().sample == 10 ? 5 : 4)(sample);
  };
  fixture.run({instruction(odd_one_out, {}, {0}), instruction(add_one, {0}, {1})});
  for (int i : {0, 2}) CHECK(fixture.batch.values[1][i].data == dense.slot(i).data);
  CHECK(fixture.batch.values[1][1].storage != dense.storage);
  CHECK(holds_numbers(fixture.batch, 1, 1));
}

TEST(forwarded_tensors_share_memory) {
  Fixture fixture(2);
  fixture.run({instruction(number(4), {}, {0}),
               instruction([](SampleContext& s) { s.forward(0, s.input(0)); }, {0}, {1}, {0})});
  CHECK(holds_numbers(fixture.batch, 1, 0));
  CHECK_EQUAL(fixture.pool->used_bytes(), 3 * kAlignment);
}
