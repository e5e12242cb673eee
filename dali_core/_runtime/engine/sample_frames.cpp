// Sequences, and arguments that differ from frame to frame, for operators that know images only.
#include <cstring>
#include <string>

#include "dali_core/each_frame.hpp"
#include "dali_core/frame_numbers.hpp"
#include "sample_program.hpp"

namespace dali_core {

bool SampleProgram::runs_by_frames(const Operator& op, const SampleContext& context) {
  if (context.num_inputs() == 0) return false;
  if (is_per_frame(context.input(0)) && dynamic_cast<const EachFrame*>(&op)) return true;
  return SampleFrames::have_arguments(context) && dynamic_cast<const PixelStep*>(&op);
}

void SampleProgram::run_frames(const Operator& op, SampleContext& context) {
  const SampleFrames frames(context);
  Tensor* whole = nullptr;
  Tensor first;
  for (int64_t frame = 0; frame < frames.count(); ++frame) {
    Tensor result;
    OutputSlot slot;
    if (whole != nullptr) {
      slot.data = whole->as<char>() + frame * first.num_bytes();
      slot.type = first.type;
      slot.shape = first.shape;
    }
    frames.visit(frame, result, slot, [&](SampleContext& own) { op.run(own); });
    if (whole == nullptr) {
      first = result;
      Shape shape{frames.count()};
      for (int i = 0; i < first.shape.ndim; ++i) shape.push_back(first.shape[i]);
      whole = &context.output(0, first.type, shape, "F" + std::string(first.layout.c_str()));
    }
    SampleFrames::check_alike(first.type, first.shape, result.type, result.shape);
    char* const place = whole->as<char>() + frame * first.num_bytes();
    if (result.data != place)
      std::memcpy(place, result.data, static_cast<size_t>(result.num_bytes()));
  }
}

}  // namespace dali_core
