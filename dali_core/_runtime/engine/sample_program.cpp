#include "sample_program.hpp"

#include <algorithm>
#include <exception>
#include <new>

namespace dali_core {

std::map<std::string, OperatorFactory>& operator_registry() {
  static std::map<std::string, OperatorFactory> registry;
  return registry;
}

std::vector<SampleFailure> Batch::failures() const {
  std::lock_guard<std::mutex> lock(failures_mutex_);
  std::vector<SampleFailure> sorted = failures_;
  std::sort(sorted.begin(), sorted.end(), [](const SampleFailure& a, const SampleFailure& b) {
    return a.sample != b.sample ? a.sample < b.sample : a.node < b.node;
  });
  return sorted;
}

void SampleProgram::run(Batch& batch, int sample, BufferPool& pool, Scratch& scratch) const {
  SampleContext context(pool, scratch, batch.keys[sample], batch.indices_of(sample));
  int node = -1;
  std::string message;
  try {
    for (const Instruction& instruction : instructions_) {
      node = instruction.node;
      run_one(instruction, context, batch, sample);
    }
    return;
  } catch (const std::bad_alloc&) {
    message = kNoMemory;
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    message = "operators must throw std::exception (got something else). Change the operator.";
  }
  batch.fail({sample, node, message, context.source_ ? *context.source_ : ""});
  for (auto& samples : batch.values) samples[sample] = Tensor{};
}

void SampleProgram::run_one(const Instruction& instruction, SampleContext& context, Batch& batch,
                            int sample) {
  context.inputs_.clear();
  context.arguments_.clear();
  context.outputs_.clear();
  context.slots_.clear();
  context.source_.reset();
  for (int value : instruction.inputs) {
    const Tensor& tensor = batch.values[value][sample];
    if (!context.source_) context.source_ = tensor.source;
    context.inputs_.push_back(&tensor);
  }
  for (int value : instruction.arguments)
    context.arguments_.push_back(&batch.values[value][sample]);
  std::vector<OutputSlot> slots;
  slots.reserve(instruction.outputs.size());
  for (int value : instruction.outputs) {
    context.outputs_.push_back(&batch.values[value][sample]);
    const int output = batch.output_of_value[value];
    const bool dense = output >= 0 && batch.dense[output].storage;
    slots.push_back(dense ? batch.dense[output].slot(sample) : OutputSlot{});
    context.slots_.push_back(&slots.back());
  }

  instruction.op->run(context);

  for (Tensor* output : context.outputs_) output->source = context.source_;
  for (int value : instruction.releases) batch.values[value][sample] = Tensor{};
}

}  // namespace dali_core
