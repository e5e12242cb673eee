// A sample program: operators that run one after the other for one sample, without a barrier to
// the other samples of the batch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "batch.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// What a failure says when memory runs out.
constexpr char kNoMemory[] =
    "memory must be available (the system has no more). Use smaller batches or images.";

// One operator in a program. Numbers are value ids: rows of `Batch::values`.
struct Instruction {
  std::shared_ptr<const Operator> op;
  int node = 0;  // the graph's node, for error messages
  std::vector<int> inputs;
  std::vector<int> arguments;
  std::vector<int> outputs;
  std::vector<int> releases;  // values that nobody reads after this instruction
};

class SampleProgram {
 public:
  explicit SampleProgram(std::vector<Instruction> instructions)
      : instructions_(std::move(instructions)) {}

  // Runs all instructions for one sample. A failure is recorded in the batch, never thrown.
  void run(Batch& batch, int sample, BufferPool& pool, Scratch& scratch) const;

 private:
  static void run_one(const Instruction& instruction, SampleContext& context, Batch& batch,
                      int sample);

  std::vector<Instruction> instructions_;
};

}  // namespace dali_core
