// The host's loop of fn.brightness_contrast, compiled for every instruction set (see simd.hpp),
// hence without guard.

constexpr int64_t kElementsInBlock = 1024;

template <typename From, typename To>
inline void adjust_run(const AdjustTask& task) {
  const From* __restrict in = static_cast<const From*>(task.in);
  To* __restrict out = static_cast<To*>(task.out);
  const BrightnessContrast rule = task.rule;
  for (int64_t i = 0, count = task.count; i < count; ++i)
    out[i] = convert<To>(adjust(convert<float>(in[i]), rule));
}

// Types that are not the usual ones pass through a block of float.
inline void adjust_elements(const AdjustTask& task) {
  constexpr auto kByte = DataType::kUInt8;
  constexpr auto kFloat = DataType::kFloat;
  if (task.from == kByte && task.to == kByte) return adjust_run<uint8_t, uint8_t>(task);
  if (task.from == kByte && task.to == kFloat) return adjust_run<uint8_t, float>(task);
  if (task.from == kFloat && task.to == kByte) return adjust_run<float, uint8_t>(task);
  if (task.from == kFloat && task.to == kFloat) return adjust_run<float, float>(task);
  alignas(64) float values[kElementsInBlock];
  for (int64_t first = 0; first < task.count; first += kElementsInBlock) {
    const int64_t length = std::min(kElementsInBlock, task.count - first);
    convert_to_floats(element_at(task.in, task.from, first), task.from, values, length);
    for (int64_t i = 0; i < length; ++i) values[i] = adjust(values[i], task.rule);
    convert_from_floats(values, element_at(task.out, task.to, first), task.to, length);
  }
}
