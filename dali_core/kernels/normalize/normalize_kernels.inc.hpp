// Inner loops of fn.crop_mirror_normalize, compiled for every instruction set (see simd.hpp), hence
// without guard. A row is brought into the output's order first, within the first-level cache; then
// one vectorised pass normalises it. Images in 8 bits stay bytes until then, all others become
// float.

#include "dali_core/interleaved_pixels.inc.hpp"

// Stages rows of 3 interleaved bytes a pixel. `in` is the leftmost pixel.
inline StagedRow stage_pixels_of_3(const NormalizeRow& row, const uint8_t* in, int64_t count,
                                   bool mirror) {
  auto* const buffer = reinterpret_cast<uint8_t*>(row.row_buffer);
  if (row.order != ChannelOrder::kPixels) {
    uint8_t* const planes[3] = {buffer, buffer + count, buffer + 2 * count};
    split_pixels_of_3(in, planes, count, mirror);
  } else if (row.output_channels == 4) {
    widen_pixels_of_3(in, buffer, count, mirror);
  } else {
    mirror_pixels_of_3(in, buffer, count);
  }
  return {buffer, nullptr, count};
}

// Takes every `stride`-th element. Strides that are known in advance vectorise.
template <typename T>
inline void stage_channel(const T* in, int64_t stride, int64_t count, T* __restrict out) {
  const T* const first = in - (count - 1);
  switch (stride) {
    case 1:
      std::memcpy(out, in, static_cast<size_t>(count) * sizeof(T));
      return;
    case -1:
      for (int64_t i = 0; i < count; ++i) out[i] = first[count - 1 - i];
      return;
    case 3:
      for (int64_t i = 0; i < count; ++i) out[i] = in[3 * i];
      return;
    default:
      for (int64_t i = 0; i < count; ++i) out[i] = in[i * stride];
  }
}

// Brings a row into the output's order, as elements of the input's width.
template <typename T>
inline void stage_elements(const NormalizeRow& row, const void* input, int64_t count,
                           void* output) {
  const T* const in = static_cast<const T*>(input);
  T* const __restrict out = static_cast<T*>(output);
  if (row.order != ChannelOrder::kPixels) {
    for (int64_t c = 0; c < row.channels; ++c)
      stage_channel(in + c * row.input_channel_stride, row.input_pixel_stride, count,
                    out + c * count);
    return;
  }
  const int64_t outputs = row.output_channels;
  for (int64_t c = 0; c < row.channels; ++c) {
    const T* const channel = in + c * row.input_channel_stride;
    for (int64_t i = 0; i < count; ++i) out[i * outputs + c] = channel[i * row.input_pixel_stride];
  }
  for (int64_t c = row.channels; c < outputs; ++c)
    for (int64_t i = 0; i < count; ++i) out[i * outputs + c] = 0;
}

inline void stage_row_of(int64_t bytes, const NormalizeRow& row, const void* in, int64_t count,
                         void* out) {
  switch (bytes) {
    case 1:
      return stage_elements<uint8_t>(row, in, count, out);
    case 2:
      return stage_elements<uint16_t>(row, in, count, out);
    case 4:
      return stage_elements<uint32_t>(row, in, count, out);
    default:
      return stage_elements<uint64_t>(row, in, count, out);
  }
}

// Brings a row into the output's order, without a copy where it is in that order already.
inline StagedRow stage_row(const NormalizeRow& row, const void* in, int64_t count) {
  const bool pixels = row.order == ChannelOrder::kPixels;
  const bool ready =
      pixels ? row.input_channel_stride == 1 && row.input_pixel_stride == row.output_channels
             : row.input_pixel_stride == 1;
  const int64_t bytes = size_of(row.input_type);
  if (row.input_type == DataType::kUInt8) {
    const auto* const elements = static_cast<const uint8_t*>(in);
    if (ready) return {elements, nullptr, row.input_channel_stride};
    const bool mirror = row.input_pixel_stride == -3;
    if (row.channels == 3 && row.input_channel_stride == 1 && row.output_channels <= 4 &&
        (mirror || row.input_pixel_stride == 3))
      return stage_pixels_of_3(row, mirror ? elements - 3 * (count - 1) : elements, count, mirror);
    stage_row_of(bytes, row, in, count, row.row_buffer);
    return {reinterpret_cast<const uint8_t*>(row.row_buffer), nullptr, count};
  }
  if (row.input_type == DataType::kFloat) {
    if (ready) return {nullptr, static_cast<const float*>(in), row.input_channel_stride};
    stage_row_of(bytes, row, in, count, row.row_buffer);
  } else if (ready && pixels) {
    convert_to_floats(in, row.input_type, row.row_buffer, count * row.output_channels);
  } else {
    stage_row_of(bytes, row, in, count, row.stored_buffer);
    convert_to_floats(row.stored_buffer, row.input_type, row.row_buffer,
                      count * (pixels ? row.output_channels : row.channels));
  }
  return {nullptr, row.row_buffer, count};
}

template <typename From>
inline void normalize_floats(const From* __restrict in, float* __restrict out, int64_t count,
                             ChannelNormalization rule) {
  for (int64_t i = 0; i < count; ++i) out[i] = normalize(static_cast<float>(in[i]), rule);
}

// Normalises elements of one channel.
template <typename From>
inline void normalize_channel(const From* in, void* out, DataType type, int64_t count,
                              int64_t stride, ChannelNormalization rule) {
  if (type == DataType::kFloat && stride == 1)
    return normalize_floats(in, static_cast<float*>(out), count, rule);
  constexpr int64_t kBlock = 256;
  alignas(64) float block[kBlock];
  alignas(64) char converted[kBlock * sizeof(double)];
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t length = count - i < kBlock ? count - i : kBlock;
    void* const to = element_at(out, type, i * stride);
    normalize_floats(in + i, block, length, rule);
    convert_from_floats(block, stride == 1 ? to : converted, type, length);
    if (stride != 1) scatter(converted, size_of(type), length, stride, to);
  }
}

// Normalises elements of interleaved channels.
template <typename From>
inline void normalize_pixels(const NormalizeRow& row, const From* in, void* out, DataType type,
                             int64_t count) {
  const float* __restrict means = row.pattern_means;
  const float* __restrict multipliers = row.pattern_multipliers;
  const bool direct = type == DataType::kFloat;
  for (int64_t i = 0; i < count; i += row.pattern_length) {
    const int64_t length = count - i < row.pattern_length ? count - i : row.pattern_length;
    const From* __restrict from = in + i;
    float* __restrict to = direct ? static_cast<float*>(out) + i : row.pattern_buffer;
    for (int64_t k = 0; k < length; ++k)
      to[k] = normalize(static_cast<float>(from[k]), {means[k], multipliers[k]});
    if (!direct) convert_from_floats(to, element_at(out, type, i), type, length);
  }
}

template <typename From>
inline void normalize_staged(const NormalizeRow& row, const From* in, int64_t channel_stride,
                             void* out, DataType type, int64_t count) {
  if (row.order == ChannelOrder::kPixels)
    return normalize_pixels(row, in, out, type, count * row.output_channels);
  for (int64_t c = 0; c < row.channels; ++c)
    normalize_channel(in + c * channel_stride, element_at(out, type, c * row.output_channel_stride),
                      type, count, row.output_pixel_stride, row.rules[c]);
}

// Normalises `count` pixels, from the one at `in` on, to the one at `out` and its successors.
inline void normalize_row(const NormalizeRow& row, const void* in, void* out, DataType output_type,
                          int64_t count) {
  const StagedRow staged = stage_row(row, in, count);
  if (staged.bytes)
    normalize_staged(row, staged.bytes, staged.channel_stride, out, output_type, count);
  else
    normalize_staged(row, staged.floats, staged.channel_stride, out, output_type, count);
}
