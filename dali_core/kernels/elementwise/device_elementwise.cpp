#include "dali_core/kernels/elementwise/device_elementwise.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "dali_core/device_arrays.hpp"
#include "dali_core/device_inputs.hpp"
#include "dali_core/device_tasks.hpp"
#include "dali_core/element_groups.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/kernels/elementwise/elementwise_code.hpp"
#include "dali_core/kernels/elementwise/float_program.hpp"

namespace dali_core {
namespace {

bool is_float(DataType type) { return type == DataType::kFloat || type == DataType::kFloat16; }

ComputedIn computed_in(const ElementwiseKernel& kernel, size_t num_operands) {
  const DataType type = kernel.operands[0];
  if (num_operands > 1 && type != kernel.operands[1])
    return type == DataType::kUInt64 ? ComputedIn::kUnsignedWithSigned
                                     : ComputedIn::kSignedWithUnsigned;
  if (type == DataType::kFloat) return ComputedIn::kFloat;
  if (type == DataType::kFloat64) return ComputedIn::kDouble;
  return type == DataType::kUInt64 ? ComputedIn::kUnsigned : ComputedIn::kSigned;
}

Widening widening(DataType from, DataType to) {
  const bool is_unsigned = from == DataType::kUInt64;
  if (to == DataType::kFloat64) {
    if (from == DataType::kFloat64) return Widening::kNone;
    if (is_float(from)) return Widening::kFloatToDouble;
    return is_unsigned ? Widening::kUnsignedToDouble : Widening::kSignedToDouble;
  }
  if (to != DataType::kFloat || is_float(from)) return Widening::kNone;
  return is_unsigned ? Widening::kUnsignedToFloat : Widening::kSignedToFloat;
}

// A constant as the kernel keeps values.
uint64_t bits_of_constant(const Tensor& constant) {
  uint64_t bits = 0;
  visit_type(constant.type, [&](auto zero) {
    using T = decltype(zero);
    const T value = *constant.as<T>();
    if constexpr (std::is_same_v<T, Half>) {
      const float number = to_float(value);
      std::memcpy(&bits, &number, sizeof number);
    } else if constexpr (std::is_floating_point_v<T>) {
      std::memcpy(&bits, &value, sizeof value);
    } else {
      bits = static_cast<uint64_t>(value);  // with the sign
    }
  });
  return bits;
}

// What one sample needs: the code is often that of the sample before.
struct Compiled {
  std::vector<ElementwiseInstruction> code;
  std::vector<uint64_t> constants;
  std::vector<const Tensor*> memory;
  Tensor value;  // without data
};

class Compiler {
 public:
  Compiler(const std::vector<const ElementwiseStep*>& steps,
           const std::vector<std::vector<int>>& makers)
      : steps_(steps), makers_(makers), last_reader_(steps.size(), 0) {
    for (size_t step = 0; step < steps_.size(); ++step)
      for (const ElementwiseOperand& operand : steps_[step]->operands())
        if (const int maker = maker_of(step, operand); maker >= 0)
          last_reader_[static_cast<size_t>(maker)] = step;
  }

  // Nothing if too many values would have to wait.
  std::optional<Compiled> compile(DeviceBatch& batch, int sample) const {
    Compiled compiled;
    std::vector<Tensor> values(steps_.size());
    std::vector<int8_t> slots(steps_.size(), -1);
    std::vector<int8_t> free;
    for (int8_t slot = kMaxSlots; slot-- > 0;) free.push_back(slot);
    for (size_t step = 0; step < steps_.size(); ++step) {
      const auto& described = steps_[step]->operands();
      const Tensor* tensors[kMaxOperands] = {};
      for (size_t i = 0; i < described.size(); ++i) {
        const int maker = maker_of(step, described[i]);
        tensors[i] = maker >= 0 ? &values[static_cast<size_t>(maker)]
                     : described[i].input < 0
                         ? &described[i].constant
                         : &batch.sample(sample, static_cast<int>(step)).input(described[i].input);
      }
      const ElementwiseKernel kernel = resolve(sample, step, tensors, values[step]);
      ElementwiseInstruction instruction{};
      instruction.function = static_cast<int16_t>(kernel.number);
      instruction.num_operands = static_cast<int8_t>(described.size());
      instruction.computed_in = computed_in(kernel, described.size());
      instruction.result = kernel.result;
      instruction.slot = -1;
      for (size_t i = 0; i < described.size(); ++i) {
        OperandCode& operand = instruction.operands[i];
        operand.widening = widening(tensors[i]->type, kernel.operands[i]);
        const int maker = maker_of(step, described[i]);
        if (maker >= 0) {
          const bool is_previous = static_cast<size_t>(maker) + 1 == step;
          operand.source = is_previous ? OperandSource::kPrevious : OperandSource::kSlot;
          operand.number = is_previous ? int16_t{0} : int16_t{slots[static_cast<size_t>(maker)]};
        } else if (described[i].input < 0) {
          operand.source = OperandSource::kConstant;
          operand.number = static_cast<int16_t>(compiled.constants.size());
          compiled.constants.push_back(bits_of_constant(*tensors[i]));
        } else {
          operand.source = OperandSource::kMemory;
          operand.number = number_of(*tensors[i], compiled.memory);
        }
      }
      for (const ElementwiseOperand& operand : described) {
        const int maker = maker_of(step, operand);
        if (maker < 0 || last_reader_[static_cast<size_t>(maker)] != step) continue;
        int8_t& slot = slots[static_cast<size_t>(maker)];
        if (slot >= 0) free.push_back(slot);
        slot = -1;
      }
      if (last_reader_[step] > step + 1) {
        if (free.empty()) return std::nullopt;
        instruction.slot = slots[step] = free.back();
        free.pop_back();
      }
      compiled.code.push_back(instruction);
    }
    compiled.value = std::move(values.back());
    return compiled;
  }

 private:
  int maker_of(size_t step, const ElementwiseOperand& operand) const {
    return operand.input < 0 ? -1 : makers_[step][static_cast<size_t>(operand.input)];
  }

  ElementwiseKernel resolve(int sample, size_t step, const Tensor* const* tensors,
                            Tensor& value) const {
    try {
      return resolve_step(*steps_[step], tensors, value);
    } catch (const std::exception& error) {
      std::throw_with_nested(DevicePlanError(sample, static_cast<int>(step), error.what()));
    }
  }

  static int16_t number_of(const Tensor& tensor, std::vector<const Tensor*>& memory) {
    for (size_t i = 0; i < memory.size(); ++i)
      if (memory[i]->data == tensor.data && memory[i]->type == tensor.type &&
          memory[i]->shape == tensor.shape)
        return static_cast<int16_t>(i);
    memory.push_back(&tensor);
    return static_cast<int16_t>(memory.size() - 1);
  }

  const std::vector<const ElementwiseStep*>& steps_;
  const std::vector<std::vector<int>>& makers_;
  std::vector<size_t> last_reader_;
};

// Strides of operands along the dimensions of the result, of which neighbours are one if no operand
// tells them apart.
void lay_out(const Shape& extents, const std::vector<const Tensor*>& tensors, OperandMemory* memory,
             ElementwiseTask& task) {
  const int64_t count = extents.num_elements();
  std::vector<size_t> strided;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t own = tensors[i]->num_elements();
    memory[i].spread = own == count ? Spread::kPlain
                       : own == 1   ? Spread::kSingle
                                    : Spread::kStrided;
    if (memory[i].spread == Spread::kStrided) strided.push_back(i);
  }
  task.num_dims = 0;
  if (strided.empty() || count == 0) return;
  int64_t sizes[kMaxDims];
  // From the last dimension on, then turned around.
  for (int dim = extents.ndim - 1; dim >= 0; --dim) {
    if (extents[dim] == 1) continue;
    std::vector<int64_t> own(strided.size());
    bool is_merged = task.num_dims > 0;
    for (size_t i = 0; i < strided.size(); ++i) {
      const Shape& shape = tensors[strided[i]]->shape;
      const int place = dim - (extents.ndim - shape.ndim);
      own[i] = place < 0 || shape[place] == 1 ? 0 : dense_strides(shape)[place];
      const int last = task.num_dims - 1;
      is_merged = is_merged && own[i] == memory[strided[i]].strides[last] * sizes[last];
    }
    if (is_merged) {
      sizes[task.num_dims - 1] *= extents[dim];
      continue;
    }
    for (size_t i = 0; i < strided.size(); ++i) memory[strided[i]].strides[task.num_dims] = own[i];
    sizes[task.num_dims++] = extents[dim];
  }
  for (const size_t i : strided) std::reverse(memory[i].strides, memory[i].strides + task.num_dims);
  std::reverse(sizes, sizes + task.num_dims);
  for (int dim = 0; dim < task.num_dims; ++dim) task.extents[dim] = quick_divisor(sizes[dim]);
}

// Whether all of it is computed in float, by what the kernel for that knows.
bool is_float_program(const Compiled& compiled, const OperandMemory* memory) {
  const auto is_known = [&](const ElementwiseInstruction& step) {
    if (step.computed_in != ComputedIn::kFloat || step.result != DataType::kFloat ||
        step.slot >= kFloatSlots || !is_float_function(static_cast<Function>(step.function)))
      return false;
    return std::all_of(step.operands, step.operands + step.num_operands, [](const auto& operand) {
      return operand.source != OperandSource::kSlot || operand.number < kFloatSlots;
    });
  };
  for (size_t i = 0; i < compiled.memory.size(); ++i)
    if (memory[i].spread == Spread::kStrided || !is_float_operand(memory[i].type)) return false;
  return std::all_of(compiled.code.begin(), compiled.code.end(), is_known);
}

float constant_as_float(uint64_t bits, Widening widening) {
  if (widening == Widening::kUnsignedToFloat) return static_cast<float>(bits);
  if (widening == Widening::kSignedToFloat) return static_cast<float>(static_cast<int64_t>(bits));
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

FloatTask float_task(DeviceBatch& batch, const Compiled& compiled, const OperandMemory* memory) {
  const auto steps = batch.upload<FloatStep>(compiled.code.size());
  for (size_t number = 0; number < compiled.code.size(); ++number) {
    const ElementwiseInstruction& instruction = compiled.code[number];
    FloatStep step{};
    step.function = static_cast<Function>(instruction.function);
    step.slot = instruction.slot;
    for (int k = 0; k < instruction.num_operands; ++k) {
      const OperandCode& code = instruction.operands[k];
      FloatOperand& operand = step.operands[k];
      operand.number = code.number;
      if (code.source == OperandSource::kMemory) {
        const OperandMemory& from = memory[code.number];
        operand.source =
            from.spread == Spread::kSingle ? FloatSource::kSingle : FloatSource::kPlain;
        operand.data = from.data;
        operand.type = from.type;
      } else if (code.source == OperandSource::kConstant) {
        operand.source = FloatSource::kConstant;
        operand.constant =
            constant_as_float(compiled.constants[static_cast<size_t>(code.number)], code.widening);
      } else {
        operand.source =
            code.source == OperandSource::kSlot ? FloatSource::kSlot : FloatSource::kPrevious;
      }
    }
    steps.host[number] = step;
  }
  return {steps.device, nullptr, 0, static_cast<int>(compiled.code.size())};
}

}  // namespace

DeviceElementwise::DeviceElementwise(std::vector<const ElementwiseStep*> steps,
                                     std::vector<std::vector<int>> makers)
    : steps_(std::move(steps)), makers_(std::move(makers)) {}

bool DeviceElementwise::plan(DeviceBatch& batch) const {
  const Compiler compiler(steps_, makers_);
  std::vector<Compiled> samples;
  for (int i = 0; i < batch.size(); ++i) {
    std::optional<Compiled> compiled = compiler.compile(batch, i);
    if (!compiled) return false;
    samples.push_back(std::move(*compiled));
  }
  for (int i = 0; i < batch.size(); ++i) {
    const Tensor& value = samples[static_cast<size_t>(i)].value;
    batch.declare(0, i, value.type, value.shape, value.layout);
  }
  batch.allocate();
  std::vector<ElementwiseTask> tasks;
  std::vector<FloatTask> float_tasks;
  int64_t largest = 0;
  int64_t largest_float = 0;
  const Compiled* before = nullptr;  // what the last task was made of
  for (int i = 0; i < batch.size(); ++i) {
    const Compiled& compiled = samples[static_cast<size_t>(i)];
    ElementwiseTask task{};
    const auto memory = batch.upload<OperandMemory>(compiled.memory.size());
    for (size_t k = 0; k < compiled.memory.size(); ++k) {
      memory.host[k] = OperandMemory{};
      memory.host[k].data = data_on_device(batch, *compiled.memory[k]);
      memory.host[k].type = compiled.memory[k]->type;
    }
    lay_out(compiled.value.shape, compiled.memory, memory.host, task);
    task.memory = memory.device;
    task.num_instructions = static_cast<int>(compiled.code.size());
    task.out = batch.output(0, i).data;
    task.count = compiled.value.num_elements();
    task.type = compiled.value.type;
    batch.output(0, i).source = compiled.value.source;
    if (is_float_program(compiled, memory.host)) {
      FloatTask float_program = float_task(batch, compiled, memory.host);
      float_program.out = static_cast<float*>(task.out);
      float_program.count = task.count;
      largest_float = std::max(largest_float, task.count);
      float_tasks.push_back(float_program);
      continue;
    }
    const bool is_same = before != nullptr && before->code == compiled.code &&
                         before->constants == compiled.constants;
    task.instructions = is_same ? tasks.back().instructions : uploaded(batch, compiled.code);
    task.constants = is_same ? tasks.back().constants : uploaded(batch, compiled.constants);
    before = &compiled;
    largest = std::max(largest, task.count);
    tasks.push_back(task);
  }
  const auto blocks = [](int64_t count, int64_t groups_of_thread) {
    return count > 0 ? blocks_for(num_groups(count, kGroup - 1), kGroupThreads, groups_of_thread)
                     : 0;
  };
  launch_tasks(batch, "run_elementwise", tasks, blocks(largest, 1), kGroupThreads);
  // Two groups at once, and that twice, to make up for reading the steps.
  launch_tasks(batch, "run_float_program", float_tasks, blocks(largest_float, 4), kGroupThreads);
  return true;
}

}  // namespace dali_core
