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
  std::vector<OutputSlot> slots;
  for (const Instruction& instruction : instructions_) {
    context.inputs_.clear();
    context.arguments_.clear();
    context.outputs_.clear();
    context.slots_.clear();
    context.source_.reset();
    slots.clear();
    slots.reserve(instruction.outputs.size());
    for (int value : instruction.inputs) {
      const Tensor& tensor = batch.values[value][sample];
      if (!context.source_) context.source_ = tensor.source;
      context.inputs_.push_back(&tensor);
    }
    for (int value : instruction.arguments)
      context.arguments_.push_back(&batch.values[value][sample]);
    for (int value : instruction.outputs) {
      context.outputs_.push_back(&batch.values[value][sample]);
      const int output = batch.output_of_value[value];
      const bool dense = output >= 0 && batch.dense[output].storage;
      slots.push_back(dense ? batch.dense[output].slot(sample) : OutputSlot{});
      context.slots_.push_back(&slots.back());
    }

    const char* problem = nullptr;
    std::string message;
    try {
      instruction.op->run(context);
    } catch (const std::bad_alloc&) {
      problem = "memory must be available (the system has no more). Use smaller batches or images.";
    } catch (const std::exception& error) {
      message = error.what();
      problem = message.c_str();
    }
    if (problem) {
      batch.fail({sample, instruction.node, problem, context.source_ ? *context.source_ : ""});
      for (auto& samples : batch.values) samples[sample] = Tensor{};
      return;
    }

    for (Tensor* output : context.outputs_) output->source = context.source_;
    for (int value : instruction.releases) batch.values[value][sample] = Tensor{};
  }
}

}  // namespace dali_core
