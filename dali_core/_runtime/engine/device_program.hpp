// A device program: operators that run one after the other on a device, each for a whole batch.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "batch.hpp"
#include "dali_core/device_batch.hpp"
#include "sample_program.hpp"

namespace dali_core {

// One operator in a device program. Numbers are value ids: rows of `Batch::values`.
struct DeviceInstruction {
  std::shared_ptr<const Operator> op;
  int node = 0;
  std::vector<int> inputs;
  std::vector<int> arguments;
  std::vector<ArgumentLimits> limits;  // of some of the arguments
  std::vector<int> outputs;
  std::vector<int> releases;  // values with no reader after this instruction
  std::vector<Guard> guards;  // the samples that it runs for
  // Of the first operator of a chain: what plans it and those after it, `chain_length` in all.
  std::shared_ptr<const DeviceChain> chain;
  std::shared_ptr<FusionCounts> chain_counts;
  int chain_length = 0;
};

// What became of planning a batch.
struct DevicePlan {
  DeviceWork work;
  bool failed = false;
  bool device_failed = false;  // no operator is to blame
  bool out_of_memory = false;
  SampleFailure failure;
};

// Planned in one module, carried out in another: hence the virtual function.
class DeviceProgram {
 public:
  explicit DeviceProgram(std::vector<DeviceInstruction> instructions)
      : instructions_(std::move(instructions)) {}
  virtual ~DeviceProgram() = default;

  // Lists what the device has to do for a batch, and gives the batch its values, whose memory is
  // complete once that is done. Batches come one after the other.
  virtual void plan(Batch& batch, DeviceMemory& memory, DevicePlan& plan);

 private:
  void run(size_t first, size_t count, bool is_chain, Batch& batch, DeviceMemory& memory,
           StageArena& arena, DeviceWork& work, const std::vector<int>& places, bool& done);

  const std::vector<DeviceInstruction> instructions_;
  // For what operators on the host would allocate; parameters are small.
  std::shared_ptr<BufferPool> pool_ = BufferPool::create();
  Scratch scratch_;
  ExpectedBytes expected_;
};

}  // namespace dali_core
