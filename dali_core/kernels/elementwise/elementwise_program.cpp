#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "dali_core/kernels/elementwise/broadcasting.hpp"
#include "dali_core/kernels/elementwise/elementwise.hpp"

namespace dali_core {
namespace {

// Elements that go through all steps at once: few enough for several blocks to stay in the
// first-level cache, and enough to hide the calls.
constexpr int64_t kBlock = 1024;
constexpr int64_t kWidest = 8;  // bytes of an element
constexpr int64_t kRegister = kBlock * kWidest;

// A tensor that repeats after at most this many elements is laid out once with a block behind it.
constexpr int64_t kLongestPeriod = 1024;

// Scratch memory: values of smaller extents, then what blocks are made in.
constexpr size_t kSmallSlot = 0;
constexpr size_t kBlockSlot = 1;

constexpr int64_t round_up(int64_t bytes) {
  return (bytes + static_cast<int64_t>(kAlignment) - 1) / static_cast<int64_t>(kAlignment) *
         static_cast<int64_t>(kAlignment);
}

}  // namespace

// One sample on its way through the steps.
class ElementwiseRun {
 public:
  ElementwiseRun(const ElementwiseProgram& program, SampleContext& own,
                 const std::vector<SampleContext*>& contexts)
      : program_(program), own_(own), contexts_(contexts), steps_(program.steps_.size()) {}

  void run() {
    for (size_t i = 0; i < steps_.size(); ++i) resolve(i);
    Step& last = steps_.back();
    if (last.value.source) own_.set_source(last.value.source);
    Tensor& output =
        contexts_.back()->output(0, last.value.type, last.value.shape, last.value.layout);
    last.value.data = output.data;
    compute_small_values();
    compute(fused_);
  }

 private:
  // How an operand gets into a block.
  enum class Way { kInPlace, kSingle, kPeriodic, kRepeated };

  struct Operand {
    const Tensor* tensor = nullptr;  // value of a step, input or constant
    int step = -1;                   // which step makes it, if that runs in the same blocks
    DataType wanted = DataType::kNone;
    Way way = Way::kInPlace;
    std::optional<BroadcastReader> reader;
    int64_t period = 0;
    const char* prepared = nullptr;  // converted, for a single or periodic operand
  };

  struct Step {
    ElementwiseKernel kernel;
    std::vector<Operand> operands;
    Tensor value;  // `data` is null while it only exists in blocks
    int64_t own_register = 0;
    char* block = nullptr;  // where that is
  };

  // Finds types, extents, layout and source.
  void resolve(size_t number) {
    Step& step = steps_[number];
    const auto& described = program_.steps_[number]->operands();
    const Tensor* tensors[kMaxOperands] = {};
    step.operands.resize(described.size());
    for (size_t i = 0; i < described.size(); ++i) {
      Operand& operand = step.operands[i];
      const int input = described[i].input;
      if (input < 0) {
        operand.tensor = &described[i].constant;
      } else {
        operand.step = program_.makers_[number][static_cast<size_t>(input)];
        operand.tensor = operand.step < 0 ? &contexts_[number]->input(input)
                                          : &steps_[static_cast<size_t>(operand.step)].value;
      }
      tensors[i] = operand.tensor;
    }
    step.kernel = resolve_step(*program_.steps_[number], tensors, step.value);
    for (size_t i = 0; i < described.size(); ++i) step.operands[i].wanted = step.kernel.operands[i];
  }

  // Values that have fewer elements than the output are computed once, not for each of its
  // elements.
  void compute_small_values() {
    const Shape& extents = steps_.back().value.shape;
    int64_t bytes = 0;
    for (const Step& step : steps_)
      if (step.value.shape != extents) bytes += round_up(step.value.num_bytes());
    char* memory = bytes > 0 ? own_.scratch<char>(kSmallSlot, static_cast<size_t>(bytes)) : nullptr;
    for (size_t i = 0; i < steps_.size(); ++i) {
      Step& step = steps_[i];
      if (step.value.shape == extents) {
        fused_.push_back(i);
        continue;
      }
      step.value.data = memory;
      memory += round_up(step.value.num_bytes());
      compute({i});
    }
  }

  // Computes steps of the same extents, of which the last one's value has memory.
  void compute(const std::vector<size_t>& numbers) {
    const Step& last = steps_[numbers.back()];
    const int64_t count = last.value.num_elements();
    if (count == 0) return;
    lay_out(numbers, std::min(kBlock, count));
    for (int64_t begin = 0; begin < count; begin += kBlock)
      for (const size_t number : numbers)
        compute_block(steps_[number], begin, std::min(kBlock, count - begin));
  }

  // Gives memory to what blocks need, and prepares operands that are the same for all of them,
  // which have at most `block` elements.
  void lay_out(const std::vector<size_t>& numbers, int64_t block) {
    int64_t bytes = (kMaxOperands + 2 + assign_registers(numbers)) * kRegister;
    for (const size_t number : numbers)
      for (Operand& operand : steps_[number].operands) {
        choose_way(operand, steps_[number].value.shape);
        bytes += prepared_bytes(operand, block);
      }
    char* memory = own_.scratch<char>(kBlockSlot, static_cast<size_t>(bytes));
    const auto take = [&](int64_t size) {
      memory += size;
      return memory - size;
    };
    converted_ = take(kMaxOperands * kRegister);
    repeated_ = take(kRegister);
    computed_ = take(kRegister);
    char* const registers = memory;
    for (const size_t number : numbers) {
      Step& step = steps_[number];
      step.block = registers + step.own_register * kRegister;
      memory = std::max(memory, step.block + kRegister);
    }
    for (const size_t number : numbers)
      for (Operand& operand : steps_[number].operands)
        if (const int64_t size = prepared_bytes(operand, block))
          prepare(operand, take(size), block);
  }

  // Registers of values with no later reader are reused, so that few are enough. Returns their
  // number.
  int64_t assign_registers(const std::vector<size_t>& numbers) {
    std::vector<size_t> last_reader(steps_.size(), 0);
    for (const size_t number : numbers)
      for (const Operand& operand : steps_[number].operands)
        if (operand.step >= 0) last_reader[static_cast<size_t>(operand.step)] = number;
    std::vector<int64_t> free;
    int64_t count = 0;
    for (const size_t number : numbers) {
      Step& step = steps_[number];
      step.own_register = free.empty() ? count++ : free.back();
      if (!free.empty()) free.pop_back();
      for (const Operand& operand : step.operands) {
        const auto made = static_cast<size_t>(operand.step);
        if (operand.step < 0 || last_reader[made] != number || steps_[made].value.data != nullptr)
          continue;
        free.push_back(steps_[made].own_register);
        last_reader[made] = steps_.size();  // it may be the next operand, too
      }
    }
    return count;
  }

  static int64_t prepared_bytes(const Operand& operand, int64_t block) {
    if (operand.way != Way::kSingle && operand.way != Way::kPeriodic) return 0;
    return round_up((block + operand.period) * size_of(operand.wanted));
  }

  void choose_way(Operand& operand, const Shape& extents) {
    const bool is_inner = operand.step >= 0 && operand.tensor->data == nullptr;
    operand.reader.reset();
    operand.way = Way::kInPlace;
    if (is_inner || operand.tensor->shape == extents) return;
    operand.reader.emplace(*operand.tensor, extents);
    operand.period = operand.reader->is_single() ? 1 : operand.reader->period();
    operand.way = operand.reader->is_plain()                               ? Way::kInPlace
                  : operand.reader->is_single()                            ? Way::kSingle
                  : operand.period > 0 && operand.period <= kLongestPeriod ? Way::kPeriodic
                                                                           : Way::kRepeated;
  }

  // Repeats an operand until any block of so many elements is in one piece.
  static void prepare(Operand& operand, char* memory, int64_t block) {
    const int64_t size = size_of(operand.wanted);
    if (operand.tensor->type == operand.wanted)
      std::memcpy(memory, operand.tensor->data, static_cast<size_t>(operand.period * size));
    else
      convert_operand(operand.tensor->data, operand.tensor->type, memory, operand.wanted,
                      operand.period);
    const int64_t total = (block + operand.period) * size;
    for (int64_t filled = operand.period * size; filled < total;) {
      const int64_t next = std::min(filled, total - filled);
      std::memcpy(memory + filled, memory, static_cast<size_t>(next));
      filled += next;
    }
    operand.prepared = memory;
  }

  void compute_block(Step& step, int64_t begin, int64_t count) {
    const void* operands[kMaxOperands] = {};
    for (size_t i = 0; i < step.operands.size(); ++i)
      operands[i] =
          fetch(step.operands[i], begin, count, converted_ + static_cast<int64_t>(i) * kRegister);
    char* const result = step.value.data == nullptr ? step.block
                                                    : static_cast<char*>(step.value.data) +
                                                          begin * size_of(step.value.type);
    if (step.kernel.computed == step.kernel.result) {
      step.kernel.function(operands, result, count);
    } else {
      step.kernel.function(operands, computed_, count);
      convert_operand(computed_, step.kernel.computed, result, step.kernel.result, count);
    }
  }

  // A block of an operand in the type wanted.
  const void* fetch(const Operand& operand, int64_t begin, int64_t count, char* converted) {
    const Tensor& tensor = *operand.tensor;
    const char* block;
    switch (operand.way) {
      case Way::kSingle:
        return operand.prepared;
      case Way::kPeriodic:
        return operand.prepared + begin % operand.period * size_of(operand.wanted);
      case Way::kRepeated:
        if (tensor.type == operand.wanted) {
          operand.reader->read(begin, count, converted);
          return converted;
        }
        operand.reader->read(begin, count, repeated_);
        block = repeated_;
        break;
      default:
        block = tensor.data == nullptr ? steps_[static_cast<size_t>(operand.step)].block
                                       : tensor.as<char>() + begin * size_of(tensor.type);
        if (tensor.type == operand.wanted) return block;
    }
    convert_operand(block, tensor.type, converted, operand.wanted, count);
    return converted;
  }

  const ElementwiseProgram& program_;
  SampleContext& own_;
  const std::vector<SampleContext*>& contexts_;
  std::vector<Step> steps_;
  std::vector<size_t> fused_;  // steps whose values have the extents of the output
  // Blocks of converted operands, of one that is repeated, and of what is computed before rounding.
  char* converted_ = nullptr;
  char* repeated_ = nullptr;
  char* computed_ = nullptr;
};

ElementwiseKernel resolve_step(const ElementwiseStep& step, const Tensor* const* operands,
                               Tensor& value) {
  DataType types[kMaxOperands] = {};
  const size_t count = step.operands().size();
  for (size_t i = 0; i < count; ++i) {
    const Tensor& operand = *operands[i];
    if (step.operands()[i].input >= 0 && !value.source) value.source = operand.source;
    types[i] = operand.type;
    value.layout = common_layout(value.layout, operand.layout);
    value.shape = i == 0 ? operand.shape : broadcast(value.shape, operand.shape);
  }
  if (value.layout.ndim() != value.shape.ndim) value.layout = Layout();
  const ElementwiseKernel kernel = step.kernel(types);
  value.type = kernel.result;
  check_size(value.shape, value.type);
  return kernel;
}

ElementwiseProgram::ElementwiseProgram(std::vector<const ElementwiseStep*> steps,
                                       std::vector<std::vector<int>> makers)
    : steps_(std::move(steps)), makers_(std::move(makers)) {}

void ElementwiseProgram::run(SampleContext& own,
                             const std::vector<SampleContext*>& contexts) const {
  ElementwiseRun(*this, own, contexts).run();
}

}  // namespace dali_core
