#include <string>

#include "sample_program.hpp"

namespace dali_core {
namespace {

// A condition that was itself jumped over does not hold.
bool holds(const Guard& guard, const Batch& batch, int sample) {
  const auto& [value, wanted] = guard;
  const Tensor& condition = batch.values[value][sample];
  const bool is_known = condition.type == DataType::kBool && condition.num_elements() == 1;
  return is_known && *condition.as<bool>() == wanted;
}

std::string described(const TensorKind& kind) {
  return std::string(name_of(kind.type)) + " with " + std::to_string(kind.ndim) +
         " dimensions and layout '" + kind.layout.c_str() + "'";
}

}  // namespace

size_t SampleProgram::jump_from(size_t first, Batch& batch, int sample) const {
  const std::vector<Guard>& guards = instructions_[first].guards;
  for (size_t k = 0; k < guards.size(); ++k) {
    if (holds(guards[k], batch, sample)) continue;
    const size_t next = jumps_[first][k];
    for (size_t i = first; i < next; ++i)
      for (int value : instructions_[i].releases) batch.values[value][sample] = Tensor{};
    return next;
  }
  return first;
}

std::vector<int> SampleProgram::passing(const std::vector<Guard>& guards, const Batch& batch) {
  std::vector<int> samples;
  for (int sample = 0; sample < batch.size(); ++sample) {
    bool passes = true;
    for (const Guard& guard : guards) passes = passes && holds(guard, batch, sample);
    if (passes) samples.push_back(sample);
  }
  return samples;
}

void SampleProgram::check_joined(Batch& batch) const {
  for (const Instruction& instruction : instructions_) {
    if (instruction.joined < 0) continue;
    const std::vector<TensorKind>& kinds = batch.kinds[instruction.joined];
    int first = -1;
    for (int sample = 0; sample < batch.size(); ++sample) {
      const TensorKind& kind = kinds[sample];
      if (kind.type == DataType::kNone) continue;
      if (first < 0) first = sample;
      const TensorKind& expected = kinds[first];
      if (kind.type == expected.type && kind.ndim == expected.ndim &&
          kind.layout == expected.layout)
        continue;
      batch.fail({sample, instruction.node,
                  "both branches must give the same type, number of dimensions and layout (got " +
                      described(kind) + ", but for sample " + std::to_string(first) + " " +
                      described(expected) + "). Convert one of them, such as by fn.cast.",
                  "", true});
      break;
    }
  }
}

}  // namespace dali_core
