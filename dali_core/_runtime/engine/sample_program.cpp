#include "sample_program.hpp"

#include "dali_core/frame_numbers.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace dali_core {
namespace {

// More than any operator uses for itself.
constexpr size_t kScratchSlots = 8;

int64_t bytes_of(const std::vector<const Tensor*>& tensors) {
  int64_t bytes = 0;
  for (const Tensor* tensor : tensors) bytes += tensor->num_bytes();
  return bytes;
}

// Of bad samples that follow each other, before the batch ends with an error.
constexpr int kMaxReplacements = 100;

bool reads_ahead(const Instruction& instruction) {
  return instruction.op->batches_ahead() > 0 && instruction.inputs.empty() &&
         instruction.arguments.empty();
}

}  // namespace

std::string failure_message(const std::exception& error) {
  const bool has_own_message = dynamic_cast<const OutOfMemory*>(&error) != nullptr ||
                               (dynamic_cast<const std::bad_alloc*>(&error) == nullptr &&
                                dynamic_cast<const std::length_error*>(&error) == nullptr);
  return has_own_message
             ? error.what()
             : "memory must be available (the system has no more). Use smaller batches or images.";
}

FailureKind failure_kind(const std::exception& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    return failure_kind(cause);
  } catch (...) {
    return FailureKind::kOther;
  }
  if (dynamic_cast<const std::out_of_range*>(&error) != nullptr) return FailureKind::kIndexError;
  return dynamic_cast<const std::invalid_argument*>(&error) != nullptr ? FailureKind::kValueError
                                                                       : FailureKind::kOther;
}

SampleProgram::SampleProgram(std::vector<Instruction> instructions)
    : instructions_(std::move(instructions)) {
  for (const Instruction& instruction : instructions_) {
    reads_ |= instruction.from_reader;
    num_timed_ = std::max({num_timed_, instruction.node + 1, instruction.chain_slot + 1});
    reads_batch_ |= instruction.op->reads_batch() || instruction.reads_group;
    if (reads_ahead(instruction))
      batches_ahead_ = std::max(batches_ahead_, instruction.op->batches_ahead());
  }
  jumps_.resize(instructions_.size());
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const std::vector<Guard>& guards = instructions_[i].guards;
    for (size_t k = 0; k < guards.size(); ++k) {
      size_t next = i + 1;
      while (next < instructions_.size() && instructions_[next].guards.size() > k &&
             std::equal(guards.begin(), guards.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                        instructions_[next].guards.begin()))
        ++next;
      jumps_[i].push_back(next);
    }
  }
}

SampleContext& SampleProgram::begin(Worker& worker, const Batch& batch, int sample,
                                    const int64_t* indices) {
  worker.context.key_ = batch.random_key(sample);
  worker.context.reader_indices_ = indices;
  worker.context.source_.reset();
  return worker.context;
}

void SampleProgram::run(Batch& batch, int sample, Worker& worker, const ReadProgress& read,
                        bool may_replace) const {
  SampleContext& context = begin(worker, batch, sample, batch.indices_of(sample));
  Failure failure = attempt(context, batch, sample, read, worker.times);
  if (failure.instruction && may_replace && !reads_batch_ && batch.num_replacements(sample) > 0)
    failure = replace(failure, batch, sample, worker);
  if (failure.instruction) batch.fail(std::move(failure.what));
}

// Tries what comes next in the readers' order, with the random numbers of the sample itself; or
// with its own ones, where they alone make the sample fail.
SampleProgram::Failure SampleProgram::replace(const Failure& first, Batch& batch, int sample,
                                              Worker& worker) const {
  const int count = std::min(batch.num_replacements(sample), kMaxReplacements);
  bool draws_anew = !first.instruction->from_reader;
  for (int distance = 1; distance <= count && !batch.cancelled;) {
    const std::vector<int64_t> indices = batch.replacement(sample, distance);
    SampleContext& context = begin(worker, batch, sample, indices.data());
    if (draws_anew) {
      context.key_ = batch.later_key(sample, distance);
      // Of mixtures it is not known which one comes next.
      if (context.key_.sample == batch.keys[sample].sample) return first;
    }
    Failure failure = attempt(context, batch, sample, {}, worker.times);
    if (!failure.instruction) {
      batch.note_replaced(first.what);
      return {};
    }
    if (!draws_anew && !failure.instruction->from_reader)
      draws_anew = true;
    else
      ++distance;
  }
  Failure failure = first;
  failure.what.is_final = true;
  failure.what.message +=
      " (None of the next " + std::to_string(count) + " samples can take its place: all are bad.)";
  return failure;
}

ReadProgress SampleProgram::read_ahead(Batch& batch, int sample, Worker& worker) const {
  SampleContext& context = begin(worker, batch, sample, batch.indices_of(sample));
  ReadProgress read;
  worker.times.begin_lap();
  try {
    for (; read.end < instructions_.size(); ++read.end) {
      const Instruction& instruction = instructions_[read.end];
      if (!reads_ahead(instruction)) continue;
      // Another data set of a mixture gives the sample.
      if (instruction.reader >= 0 && batch.indices_of(sample)[instruction.reader] < 0) continue;
      OperatorTimes& times = worker.times.operators[static_cast<size_t>(instruction.node)];
      run_one(instruction, context, batch, sample, times);
      worker.times.end_lap(instruction.node, batch.iteration, sample);
      for (int value : instruction.outputs) read.bytes += batch.values[value][sample].num_bytes();
    }
  } catch (...) {
    read.problem = std::current_exception();
    read.source = context.source_;
  }
  return read;
}

SampleProgram::Failure SampleProgram::attempt(SampleContext& context, Batch& batch, int sample,
                                              const ReadProgress& read, ThreadTimes& times) const {
  const Instruction* running = nullptr;
  std::string message;
  FailureKind kind = FailureKind::kOther;
  try {
    for (size_t i = 0; i < instructions_.size(); ++i) {
      const Instruction& instruction = instructions_[i];
      if (i < read.end && reads_ahead(instruction)) continue;
      const size_t next = jump_from(i, batch, sample);
      if (next != i) {
        i = next - 1;
        continue;
      }
      running = &instruction;
      if (i == read.end && read.problem) {
        context.source_ = read.source;
        std::rethrow_exception(read.problem);
      }
      OperatorTimes& own = times.operators[static_cast<size_t>(instruction.node)];
      OperatorTimes& chain = times.operators[static_cast<size_t>(instruction.chain_slot)];
      if (instruction.chain && run_chain(i, context, batch, sample, chain)) {
        i += static_cast<size_t>(instruction.chain_length) - 1;
        times.end_lap(instruction.chain_slot, batch.iteration, sample);
      } else {
        if (!instruction.joint || !run_joint(instruction, context, batch, sample, own))
          run_one(instruction, context, batch, sample, own);
        times.end_lap(instruction.node, batch.iteration, sample);
      }
    }
    return {};
  } catch (const std::exception& error) {
    message = failure_message(error);
    kind = failure_kind(error);
  } catch (...) {
    message = "operators must throw std::exception (got something else). Change the operator.";
  }
  times.begin_lap();  // the time of what failed counts nowhere
  for (const Instruction& instruction : instructions_)
    if (instruction.joined >= 0) batch.kinds[instruction.joined][sample] = TensorKind{};
  // What other samples may be reading stays until the batch is gone.
  if (!reads_batch_) batch.clear(sample);
  return {running,
          {sample, running->node, std::move(message), context.source_ ? *context.source_ : "",
           false, kind}};
}

void SampleProgram::run_one(const Instruction& instruction, SampleContext& context, Batch& batch,
                            int sample, OperatorTimes& times) {
  context.source_.reset();
  if (!batch.draws.empty()) context.key_ = batch.key_of(instruction.node, sample);
  bind_inputs(instruction, context, batch, sample);
  bind_arguments(instruction, context, batch, sample);
  if (instruction.joined < 0) check_inputs(context);
  check_arguments(instruction, context);
  bind_outputs(instruction, context, batch, sample);
  std::vector<std::vector<Tensor>> group;
  if (instruction.reads_group) group = bind_group(instruction, context, batch, sample);

  times.bytes_in.add(bytes_of(context.inputs_));
  if (runs_by_frames(*instruction.op, context))
    run_frames(*instruction.op, context);
  else
    instruction.op->run(context);

  for (Tensor* output : context.outputs_) output->source = context.source_;
  for (int value : instruction.outputs) times.bytes_out.add(batch.note_bytes(value, sample));
  if (instruction.joined >= 0) {
    const Tensor& output = *context.outputs_[0];
    batch.kinds[instruction.joined][sample] = {output.type, output.shape.ndim, output.layout};
  }
  for (int value : instruction.releases) batch.values[value][sample] = Tensor{};
}

// Documents may describe a graph that no program makes.
void SampleProgram::check_inputs(const SampleContext& context) {
  for (const auto* tensors : {&context.inputs_, &context.arguments_})
    for (const Tensor* tensor : *tensors)
      if (tensor->type == DataType::kNone)
        throw std::invalid_argument(
            "inputs must exist (got one of a branch that the sample does not take). Define the "
            "pipeline again.");
}

void SampleProgram::check_arguments(const Instruction& instruction, const SampleContext& context) {
  for (const ArgumentLimits& limits : instruction.limits)
    limits.check(*context.arguments_[limits.slot]);
}

void SampleProgram::bind_inputs(const Instruction& instruction, SampleContext& context,
                                Batch& batch, int sample) {
  context.inputs_.clear();
  context.batch_inputs_.clear();
  context.index_in_batch_ = sample;
  context.batch_size_ = batch.size();
  context.batch_key_ = batch.key_of(instruction.node, 0);
  for (int value : instruction.inputs) {
    const Tensor& tensor = batch.values[value][sample];
    context.batch_inputs_.push_back(&batch.values[value]);
    if (!context.source_) context.source_ = tensor.source;
    context.inputs_.push_back(&tensor);
  }
}

// Makes the samples that pass the guards the operator's batch.
std::vector<std::vector<Tensor>> SampleProgram::bind_group(const Instruction& instruction,
                                                           SampleContext& context,
                                                           const Batch& batch, int sample) {
  const std::vector<int> members = passing(instruction.guards, batch);
  std::vector<std::vector<Tensor>> inputs(instruction.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (int member : members) inputs[i].push_back(batch.values[instruction.inputs[i]][member]);
    context.batch_inputs_[i] = &inputs[i];
  }
  const auto self = std::lower_bound(members.begin(), members.end(), sample);
  context.index_in_batch_ = static_cast<int>(self - members.begin());
  context.batch_size_ = static_cast<int>(members.size());
  return inputs;
}

void SampleProgram::bind_arguments(const Instruction& instruction, SampleContext& context,
                                   Batch& batch, int sample) {
  context.arguments_.clear();
  for (int value : instruction.arguments)
    context.arguments_.push_back(&batch.values[value][sample]);
}

void SampleProgram::bind_outputs(const Instruction& instruction, SampleContext& context,
                                 Batch& batch, int sample) {
  context.outputs_.clear();
  context.slots_.clear();
  for (int value : instruction.outputs) {
    context.outputs_.push_back(&batch.values[value][sample]);
    const int output = batch.output_of_value[value];
    const bool dense = output >= 0 && batch.dense[output].storage;
    context.slots_.push_back(dense ? batch.dense[output].slot(sample) : OutputSlot{});
    if (!batch.pools.empty()) context.slots_.back().pool = batch.pools[value];
  }
}

bool SampleProgram::run_chain(size_t first, SampleContext& context, Batch& batch, int sample,
                              OperatorTimes& times) const {
  const Instruction& instruction = instructions_[first];
  std::vector<int> members(static_cast<size_t>(instruction.chain_length));
  std::iota(members.begin(), members.end(), static_cast<int>(first));
  const bool done = run_as_one(*instruction.chain, members, context, batch, sample, times);
  FusionCounts& counts = *instruction.chain_counts;
  (done ? counts.fused : counts.refused).fetch_add(1, std::memory_order_relaxed);
  return done;
}

bool SampleProgram::run_joint(const Instruction& last, SampleContext& context, Batch& batch,
                              int sample, OperatorTimes& times) const {
  return run_as_one(*last.joint, last.joint_members, context, batch, sample, times);
}

bool SampleProgram::run_as_one(const FusedChain& chain, const std::vector<int>& members,
                               SampleContext& context, Batch& batch, int sample,
                               OperatorTimes& times) const {
  const Instruction& first = instructions_[static_cast<size_t>(members.front())];
  const Instruction& last = instructions_[static_cast<size_t>(members.back())];
  context.source_.reset();
  std::vector<SampleContext> operators;
  operators.reserve(members.size());
  for (const int member : members) {
    const Instruction& instruction = instructions_[static_cast<size_t>(member)];
    // Operators of a chain hold scratch memory at the same time.
    const size_t first_slot = kScratchSlots * (operators.size() + 1);
    const SampleKey key =
        batch.draws.empty() ? context.key_ : batch.key_of(instruction.node, sample);
    SampleContext& own =
        operators.emplace_back(context.pool_, context.scratch_, key, context.reader_indices_);
    own.first_scratch_slot_ = first_slot;
    bind_inputs(instruction, own, batch, sample);
    bind_arguments(instruction, own, batch, sample);
  }
  for (const SampleContext& own : operators)
    if (SampleFrames::have_arguments(own)) return false;
  // A source makes its other outputs by itself.
  const bool has_others = first.outputs.size() > 1;
  if (has_others) bind_outputs(first, operators.front(), batch, sample);
  bind_outputs(last, operators.back(), batch, sample);
  context.source_ = operators.front().source_;
  bool done = false;
  try {
    for (size_t i = 0; i < members.size(); ++i)
      check_arguments(instructions_[static_cast<size_t>(members[i])], operators[i]);
    done = chain.run(context, operators);
    if (operators.front().source_) context.source_ = operators.front().source_;
  } catch (const OutOfMemory&) {
    // The error names the operator that requested the memory.
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    // The operator that refuses the sample says why when it runs by itself.
  }
  if (!done) return false;
  for (const SampleContext& own : operators) times.bytes_in.add(bytes_of(own.inputs_));
  for (Tensor* output : operators.back().outputs_) output->source = context.source_;
  for (int value : last.outputs) times.bytes_out.add(batch.note_bytes(value, sample));
  if (has_others) {
    for (size_t i = 1; i < operators.front().outputs_.size(); ++i) {
      operators.front().outputs_[i]->source = context.source_;
      times.bytes_out.add(batch.note_bytes(first.outputs[i], sample));
    }
  }
  for (const int member : members)
    for (int value : instructions_[static_cast<size_t>(member)].releases)
      batch.values[value][sample] = Tensor{};
  return true;
}

}  // namespace dali_core
