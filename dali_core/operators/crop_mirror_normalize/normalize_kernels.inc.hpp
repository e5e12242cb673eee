// Inner loops of fn.crop_mirror_normalize, compiled for every instruction set (see simd.hpp), hence
// without guard. A row is brought into the output's order first, within the first-level cache; then
// one vectorised pass normalises it. Images in 8 bits stay bytes until then, all others become
// float.

#include "dali_core/convert_run.inc.hpp"
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
template <typename From, typename Staged>
inline void stage_channel(const From* in, int64_t stride, int64_t count, Staged* out) {
  const From* const first = in - (count - 1);
  switch (stride) {
    case 1:
      return convert_run(in, out, count);
    case -1:
      for (int64_t i = 0; i < count; ++i) out[i] = convert<Staged>(first[count - 1 - i]);
      return;
    case 3:
      for (int64_t i = 0; i < count; ++i) out[i] = convert<Staged>(in[3 * i]);
      return;
    default:
      for (int64_t i = 0; i < count; ++i) out[i] = convert<Staged>(in[i * stride]);
  }
}

template <typename From, typename Staged>
inline void stage_elements(const NormalizeRow& row, const From* in, int64_t count, Staged* out) {
  if (row.order != ChannelOrder::kPixels) {
    for (int64_t c = 0; c < row.channels; ++c)
      stage_channel(in + c * row.input_channel_stride, row.input_pixel_stride, count,
                    out + c * count);
    return;
  }
  const int64_t outputs = row.output_channels;
  for (int64_t c = 0; c < row.channels; ++c) {
    const From* const channel = in + c * row.input_channel_stride;
    for (int64_t i = 0; i < count; ++i)
      out[i * outputs + c] = convert<Staged>(channel[i * row.input_pixel_stride]);
  }
  for (int64_t c = row.channels; c < outputs; ++c)
    for (int64_t i = 0; i < count; ++i) out[i * outputs + c] = 0;
}

// Brings a row into the output's order, without a copy where it is in that order already.
template <typename From>
inline StagedRow stage_row(const NormalizeRow& row, const From* in, int64_t count) {
  const bool pixels = row.order == ChannelOrder::kPixels;
  const bool ready =
      pixels ? row.input_channel_stride == 1 && row.input_pixel_stride == row.output_channels
             : row.input_pixel_stride == 1;
  if constexpr (std::is_same_v<From, uint8_t>) {
    if (ready) return {in, nullptr, row.input_channel_stride};
    const bool mirror = row.input_pixel_stride == -3;
    if (row.channels == 3 && row.input_channel_stride == 1 && row.output_channels <= 4 &&
        (mirror || row.input_pixel_stride == 3))
      return stage_pixels_of_3(row, mirror ? in - 3 * (count - 1) : in, count, mirror);
    auto* const buffer = reinterpret_cast<uint8_t*>(row.row_buffer);
    stage_elements(row, in, count, buffer);
    return {buffer, nullptr, count};
  } else {
    if constexpr (std::is_same_v<From, float>) {
      if (ready) return {nullptr, in, row.input_channel_stride};
    }
    stage_elements(row, in, count, row.row_buffer);
    return {nullptr, row.row_buffer, count};
  }
}

template <typename From>
inline void normalize_floats(const From* __restrict in, float* __restrict out, int64_t count,
                             ChannelNormalization rule) {
  for (int64_t i = 0; i < count; ++i) out[i] = normalize(static_cast<float>(in[i]), rule);
}

// Normalises elements of one channel.
template <typename To, typename From>
inline void normalize_channel(const From* in, To* out, int64_t count, int64_t stride,
                              ChannelNormalization rule) {
  if constexpr (std::is_same_v<To, float>) {
    if (stride == 1) return normalize_floats(in, out, count, rule);
  }
  constexpr int64_t kBlock = 256;
  alignas(64) float block[kBlock];
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t length = count - i < kBlock ? count - i : kBlock;
    normalize_floats(in + i, block, length, rule);
    if (stride == 1)
      convert_run(block, out + i, length);
    else
      for (int64_t k = 0; k < length; ++k) out[(i + k) * stride] = convert<To>(block[k]);
  }
}

// Normalises elements of interleaved channels.
template <typename To, typename From>
inline void normalize_pixels(const NormalizeRow& row, const From* in, To* out, int64_t count) {
  const float* __restrict means = row.pattern_means;
  const float* __restrict multipliers = row.pattern_multipliers;
  for (int64_t i = 0; i < count; i += row.pattern_length) {
    const int64_t length = count - i < row.pattern_length ? count - i : row.pattern_length;
    const From* __restrict from = in + i;
    float* __restrict to = row.pattern_buffer;
    if constexpr (std::is_same_v<To, float>) to = out + i;
    for (int64_t k = 0; k < length; ++k)
      to[k] = normalize(static_cast<float>(from[k]), {means[k], multipliers[k]});
    if constexpr (!std::is_same_v<To, float>) convert_run(to, out + i, length);
  }
}

template <typename To, typename From>
inline void normalize_staged(const NormalizeRow& row, const From* in, int64_t channel_stride,
                             To* out, int64_t count) {
  if (row.order == ChannelOrder::kPixels)
    return normalize_pixels(row, in, out, count * row.output_channels);
  for (int64_t c = 0; c < row.channels; ++c)
    normalize_channel(in + c * channel_stride, out + c * row.output_channel_stride, count,
                      row.output_pixel_stride, row.rules[c]);
}

// Normalises `count` pixels, from the one at `in` on, to the one at `out` and its successors.
inline void normalize_row(const NormalizeRow& row, const void* in, void* out, DataType output_type,
                          int64_t count) {
  const StagedRow staged = visit_type(row.input_type, [&](auto zero) {
    return stage_row(row, static_cast<const decltype(zero)*>(in), count);
  });
  visit_type(output_type, [&](auto zero) {
    auto* const target = static_cast<decltype(zero)*>(out);
    if (staged.bytes)
      normalize_staged(row, staged.bytes, staged.channel_stride, target, count);
    else
      normalize_staged(row, staged.floats, staged.channel_stride, target, count);
  });
}
