// Inner loops of adjust_image(), compiled for every instruction set (see simd.hpp), hence without
// guard.

constexpr int64_t kElementsInBlock = 1024;

template <typename From, typename To>
inline void adjust_block(const From* __restrict in, To* __restrict out, int64_t count,
                         BrightnessContrast rule) {
  for (int64_t i = 0; i < count; ++i) out[i] = convert<To>(adjust(convert<float>(in[i]), rule));
}

template <typename From>
inline void adjust_usual(const From* in, void* out, DataType output_type, int64_t count,
                         BrightnessContrast rule) {
  if (output_type == DataType::kUInt8)
    adjust_block(in, static_cast<uint8_t*>(out), count, rule);
  else
    adjust_block(in, static_cast<float*>(out), count, rule);
}

// Types that are not the usual ones pass through a block of float.
inline void adjust_elements(const void* in, DataType input_type, void* out, DataType output_type,
                            int64_t count, BrightnessContrast rule) {
  const auto is_usual = [](DataType type) {
    return type == DataType::kUInt8 || type == DataType::kFloat;
  };
  if (is_usual(input_type) && is_usual(output_type)) {
    if (input_type == DataType::kUInt8)
      adjust_usual(static_cast<const uint8_t*>(in), out, output_type, count, rule);
    else
      adjust_usual(static_cast<const float*>(in), out, output_type, count, rule);
    return;
  }
  alignas(64) float values[kElementsInBlock];
  for (int64_t first = 0; first < count; first += kElementsInBlock) {
    const int64_t length = std::min(kElementsInBlock, count - first);
    convert_to_floats(element_at(in, input_type, first), input_type, values, length);
    for (int64_t i = 0; i < length; ++i) values[i] = adjust(values[i], rule);
    convert_from_floats(values, element_at(out, output_type, first), output_type, length);
  }
}
