// Tiny operators, and plans made from them.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dali_core/operator.hpp"
#include "executor.hpp"

namespace dali_core {

constexpr double kLong = 300;  // seconds; only a deadlock takes so long

// An operator whose rule is a function.
class FunctionOperator : public Operator {
 public:
  explicit FunctionOperator(std::function<void(SampleContext&)> rule) : rule_(std::move(rule)) {}
  void run(SampleContext& sample) const override { rule_(sample); }

 private:
  std::function<void(SampleContext&)> rule_;
};

inline Instruction instruction(std::function<void(SampleContext&)> rule, std::vector<int> inputs,
                               std::vector<int> outputs, std::vector<int> releases = {},
                               int node = 0) {
  Instruction result;
  result.op = std::make_shared<FunctionOperator>(std::move(rule));
  result.node = node;
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  result.releases = std::move(releases);
  return result;
}

inline Stage program(std::vector<Instruction> instructions) {
  return {std::make_shared<SampleProgram>(std::move(instructions))};
}

inline Stage step() { return {}; }

inline Plan plan(std::vector<Stage> stages, std::vector<int> outputs, int num_values) {
  Plan result;
  result.stages = std::move(stages);
  result.outputs = std::move(outputs);
  result.num_values = num_values;
  return result;
}

// Takes a random time: up to 100 us.
inline void take_a_while(SampleContext& sample) {
  const uint32_t draw = sample.random(7).next_uint32();
  if (draw % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw / 4 % 100));
}

// The sample's number, `count` times.
inline std::function<void(SampleContext&)> number(int64_t count) {
  return [count](SampleContext& sample) {
    take_a_while(sample);
    int64_t* out = sample.output(0, DataType::kInt64, {count}).as<int64_t>();
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int64_t>(sample.key().sample);
  };
}

// Adds one to every element.
inline void add_one(SampleContext& sample) {
  const Tensor& input = sample.input(0);
  int64_t* out = sample.output(0, input.type, input.shape, input.layout).as<int64_t>();
  for (int64_t i = 0; i < input.num_elements(); ++i) out[i] = input.as<int64_t>()[i] + 1;
}

inline std::shared_ptr<Batch> submit(Executor& executor, int64_t iteration, int size) {
  std::shared_ptr<Batch> batch = executor.make_batch(iteration, size);
  for (int i = 0; i < size; ++i)
    batch->keys[i].sample = static_cast<uint64_t>(iteration * 1000 + i);
  executor.submit(batch);
  return batch;
}

// Whether every element of output `value` is the sample's number plus `offset`.
inline bool holds_numbers(const Batch& batch, int value, int64_t offset) {
  for (int i = 0; i < batch.size(); ++i) {
    const Tensor& tensor = batch.values[value][i];
    for (int64_t k = 0; k < tensor.num_elements(); ++k)
      if (tensor.as<int64_t>()[k] != static_cast<int64_t>(batch.keys[i].sample) + offset)
        return false;
  }
  return true;
}

}  // namespace dali_core
