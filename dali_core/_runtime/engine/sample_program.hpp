// A sample program: operators that run one after the other for one sample, without a barrier to
// the other samples of the batch.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "argument_limits.hpp"
#include "batch.hpp"
#include "dali_core/operator.hpp"
#include "run_times.hpp"
#include "sample_reads.hpp"

namespace dali_core {

// What a failure says.
std::string failure_message(const std::exception& error);

// Cython translates the same exceptions into the same of Python.
FailureKind failure_kind(const std::exception& error);

// Several operators that run as one. Made from them, in their order.
class FusedChain {
 public:
  virtual ~FusedChain() = default;

  // Makes what the last operator would, if every one had run; the last has an output, all have
  // their arguments and inputs, of which those that others of the chain make are empty. False, or
  // an exception, if that is not possible for this sample: the operators then run one by one, and
  // report the error. `own` has scratch memory that no operator uses, and the source of the result.
  virtual bool run(SampleContext& own, std::vector<SampleContext>& operators) const = 0;
};

// How many samples a chain has done, and how many it has left to its operators.
struct FusionCounts {
  std::atomic<int64_t> fused{0};
  std::atomic<int64_t> refused{0};
};

// A condition under which an instruction runs: a value id, and what that boolean must be.
using Guard = std::pair<int, bool>;

// One operator in a program. Numbers are value ids: rows of `Batch::values`.
struct Instruction {
  std::shared_ptr<const Operator> op;
  int node = 0;  // the graph's node, for error messages; its slot in `ThreadTimes::operators`
  std::vector<int> inputs;
  std::vector<int> arguments;
  std::vector<ArgumentLimits> limits;  // of some of the arguments
  std::vector<int> outputs;
  std::vector<int> releases;  // values with no reader after this instruction
  std::vector<Guard> guards;  // the samples that it runs for, from the outermost condition on
  // Whether the operator's batch is made of these samples only, which are known beforehand.
  bool reads_group = false;
  int joined = -1;  // row of `Batch::kinds` that its output is noted in, or -1
  // Of the first operator of a chain: what runs it and those after it, `chain_length` in all.
  std::shared_ptr<const FusedChain> chain;
  std::shared_ptr<FusionCounts> chain_counts;
  int chain_length = 0;
  int chain_slot = 0;  // the chain's in `ThreadTimes::operators`
  // What makes its output in any case, if it can, from the inputs of operators before it; and their
  // instructions, of which this is the last.
  std::shared_ptr<const FusedChain> joint;
  std::vector<int> joint_members;
  bool from_reader = false;  // whether it depends on what a reader gives
  int reader = -1;           // which of the readers it is, or -1
};

// What a thread that runs samples has for itself.
struct Worker {
  Worker(BufferPool& pool, ThreadTimes& thread_times)
      : context(pool, scratch, {}, nullptr), times(thread_times) {}
  Worker(const Worker&) = delete;

  Scratch scratch;
  SampleContext context;  // of one sample after the other: their lists keep their memory
  ThreadTimes& times;
};

class SampleProgram {
 public:
  explicit SampleProgram(std::vector<Instruction> instructions);

  // Returns the samples that pass all guards, once their conditions are known.
  static std::vector<int> passing(const std::vector<Guard>& guards, const Batch& batch);

  // Fails the first sample whose joined value is of another kind than that of the samples before.
  void check_joined(Batch& batch) const;

  // Runs all instructions for one sample but those that `read_ahead` has run. A failure, also one
  // of `read_ahead`, is recorded in the batch, never thrown. If `may_replace`, what the readers
  // have next is tried in the place of a sample that fails.
  void run(Batch& batch, int sample, Worker& worker, const ReadProgress& read = {},
           bool may_replace = false) const;

  // Whether it has readers.
  bool reads() const { return reads_; }

  // How many slots of `ThreadTimes::operators` it uses.
  int num_timed() const { return num_timed_; }

  // How many batches may wait with their samples read; 0 if no operator reads ahead.
  int batches_ahead() const { return batches_ahead_; }
  // Runs what reads ahead, up to the first failure.
  ReadProgress read_ahead(Batch& batch, int sample, Worker& worker) const;

 private:
  struct Failure {
    const Instruction* instruction = nullptr;  // null: everything went well
    SampleFailure what;
  };
  // `indices` are the readers'.
  static SampleContext& begin(Worker& worker, const Batch& batch, int sample,
                              const int64_t* indices);
  Failure attempt(SampleContext& context, Batch& batch, int sample, const ReadProgress& read,
                  ThreadTimes& times) const;
  Failure replace(const Failure& first, Batch& batch, int sample, Worker& worker) const;
  static void run_one(const Instruction& instruction, SampleContext& context, Batch& batch,
                      int sample, OperatorTimes& times);
  // If instruction `first` must not run for this sample: the next one that may. Otherwise `first`.
  size_t jump_from(size_t first, Batch& batch, int sample) const;
  // Returns whether the chain that begins at an instruction, or the one that ends there in any
  // case, could be run as one.
  bool run_chain(size_t first, SampleContext& context, Batch& batch, int sample,
                 OperatorTimes& times) const;
  bool run_joint(const Instruction& last, SampleContext& context, Batch& batch, int sample,
                 OperatorTimes& times) const;
  bool run_as_one(const FusedChain& chain, const std::vector<int>& members, SampleContext& context,
                  Batch& batch, int sample, OperatorTimes& times) const;
  // Whether the operator knows single images only, and the sample is a sequence, or has arguments
  // for each frame of one.
  static bool runs_by_frames(const Operator& op, const SampleContext& context);
  // Runs it for each frame of input 0, with the frame's arguments, and makes one sequence of the
  // results.
  static void run_frames(const Operator& op, SampleContext& context);
  static void check_inputs(const SampleContext& context);
  static void check_arguments(const Instruction& instruction, const SampleContext& context);
  static std::vector<std::vector<Tensor>> bind_group(const Instruction& instruction,
                                                     SampleContext& context, const Batch& batch,
                                                     int sample);
  static void bind_arguments(const Instruction& instruction, SampleContext& context, Batch& batch,
                             int sample);
  static void bind_inputs(const Instruction& instruction, SampleContext& context, Batch& batch,
                          int sample);
  static void bind_outputs(const Instruction& instruction, SampleContext& context, Batch& batch,
                           int sample);

  const std::vector<Instruction> instructions_;
  // [instruction][guard]: the first instruction behind it that does not depend on the guard.
  std::vector<std::vector<size_t>> jumps_;
  int batches_ahead_ = 0;
  int num_timed_ = 1;
  bool reads_ = false;
  bool reads_batch_ = false;  // whether an operator reads other samples than its own
};

}  // namespace dali_core
