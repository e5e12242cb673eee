#include "device_program.hpp"

#include <exception>
#include <new>
#include <numeric>
#include <utility>

namespace dali_core {

void DeviceProgram::plan(Batch& batch, DeviceMemory& memory, DevicePlan& plan) {
  StageArena arena(memory, expected_);
  std::vector<int> everything(static_cast<size_t>(batch.size()));
  std::iota(everything.begin(), everything.end(), 0);
  size_t running = 0;
  std::vector<int> places;
  const auto fail = [&](int sample, size_t member, const std::string& message, FailureKind kind) {
    const DeviceInstruction& instruction = instructions_[running + member];
    std::string source;
    if (sample >= 0) {
      sample = places[sample];
      for (int value : instruction.inputs)
        if (const auto& known = batch.values[value][sample].source) source = *known;
    }
    plan.failed = true;
    plan.failure = {sample, instruction.node, message, source, false, kind};
  };
  try {
    for (size_t i = 0; i < instructions_.size(); ++i) {
      const DeviceInstruction& instruction = instructions_[i];
      running = i;
      places = instruction.guards.empty() ? everything
                                          : SampleProgram::passing(instruction.guards, batch);
      bool done = false;
      if (instruction.chain) {
        const auto length = static_cast<size_t>(instruction.chain_length);
        run(i, length, true, batch, memory, arena, plan.work, places, done);
        FusionCounts& counts = *instruction.chain_counts;
        (done ? counts.fused : counts.refused)
            .fetch_add(static_cast<int64_t>(places.size()), std::memory_order_relaxed);
        if (done) i += length - 1;
      }
      if (!done) run(i, 1, false, batch, memory, arena, plan.work, places, done);
    }
    arena.finish(plan.work);
    expected_.update(arena.upload_bytes(), arena.scratch_bytes());
  } catch (const DevicePlanError& error) {
    fail(error.sample, static_cast<size_t>(error.member), error.what(), failure_kind(error));
  } catch (const DeviceFailure& error) {
    fail(-1, 0, error.what(), FailureKind::kOther);
    plan.device_failed = true;
    plan.out_of_memory = dynamic_cast<const OutOfDeviceMemory*>(&error) != nullptr;
  } catch (const std::exception& error) {
    fail(-1, 0, failure_message(error), failure_kind(error));
  }
}

// Plans one operator, or a chain. The memory that it uses must not be reused before the work is in
// the stream, so released values stay with the work until then.
void DeviceProgram::run(size_t first, size_t count, bool is_chain, Batch& batch,
                        DeviceMemory& memory, StageArena& arena, DeviceWork& work,
                        const std::vector<int>& places, bool& done) {
  const DeviceInstruction& begin = instructions_[first];
  const DeviceInstruction& last = instructions_[first + count - 1];
  done = true;
  if (!places.empty()) {
    std::vector<std::vector<Tensor>> outputs(last.outputs.size(),
                                             std::vector<Tensor>(places.size()));
    std::vector<std::vector<SampleContext>> contexts(count);
    for (size_t member = 0; member < count; ++member) {
      const DeviceInstruction& instruction = instructions_[first + member];
      contexts[member].reserve(places.size());
      for (size_t k = 0; k < places.size(); ++k) {
        const int place = places[k];
        SampleContext& context = contexts[member].emplace_back(
            *pool_, scratch_, batch.random_key(place), batch.indices_of(place));
        context.index_in_batch_ = static_cast<int>(k);
        context.batch_size_ = static_cast<int>(places.size());
        context.batch_key_ = batch.keys.front();
        for (int value : instruction.inputs) {
          context.inputs_.push_back(&batch.values[value][place]);
          if (!context.source_) context.source_ = batch.values[value][place].source;
        }
        for (int value : instruction.arguments)
          context.arguments_.push_back(&batch.values[value][place]);
        try {
          for (const ArgumentLimits& limits : instruction.limits)
            limits.check(*context.arguments_[limits.slot]);
        } catch (const std::invalid_argument& error) {
          std::throw_with_nested(
              DevicePlanError(static_cast<int>(k), static_cast<int>(member), error.what()));
        }
        if (member + 1 == count)
          for (auto& samples : outputs) context.outputs_.push_back(&samples[k]);
      }
    }
    DeviceBatch planned(memory, arena, work, contexts, outputs, begin.node);
    if (is_chain)
      done = begin.chain->plan(planned);
    else
      begin.op->plan(planned);
    if (!done) return;
    for (size_t number = 0; number < outputs.size(); ++number) {
      const int value = last.outputs[number];
      for (size_t k = 0; k < places.size(); ++k) {
        Tensor& output = outputs[number][k];
        if (!output.source) output.source = contexts.front()[k].source_;
        batch.values[value][places[k]] = std::move(output);
        batch.note_bytes(value, places[k]);
      }
    }
  }
  for (size_t member = 0; member < count; ++member)
    for (int value : instructions_[first + member].releases)
      for (Tensor& tensor : batch.values[value]) {
        if (tensor.storage) work.scratch.push_back(std::move(tensor.storage));
        tensor = Tensor{};
      }
}

}  // namespace dali_core
