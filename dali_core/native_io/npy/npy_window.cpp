#include "dali_core/native_io/npy/npy_window.hpp"

#include <algorithm>
#include <cstring>

namespace dali_core {
namespace {

// A read costs about as much as copying so many bytes, and disks read pages of this size anyway.
constexpr int64_t kSmallGap = 4096;
// What is read at once to be put into another order: it stays in the cache.
constexpr int64_t kBufferBytes = 1 << 18;

uint8_t swapped(uint8_t bits) { return bits; }
uint16_t swapped(uint16_t bits) { return __builtin_bswap16(bits); }
uint32_t swapped(uint32_t bits) { return __builtin_bswap32(bits); }
uint64_t swapped(uint64_t bits) { return __builtin_bswap64(bits); }

template <typename Bits>
void swap_all(char* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i, data += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, data, sizeof(bits));
    bits = swapped(bits);
    std::memcpy(data, &bits, sizeof(bits));
  }
}

void swap_elements(char* data, int64_t count, int64_t bytes) {
  if (bytes == 2) swap_all<uint16_t>(data, count);
  if (bytes == 4) swap_all<uint32_t>(data, count);
  if (bytes == 8) swap_all<uint64_t>(data, count);
}

}  // namespace

NpyWindow::NpyWindow(const NpyHeader& header, const Window& window)
    : bytes_(size_of(header.type)), swaps_(header.is_big_endian && bytes_ > 1) {
  const int ndim = header.shape.ndim;
  int64_t source_strides[kMaxDims], target_strides[kMaxDims];
  int64_t source_stride = 1, target_stride = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    const int source = header.is_fortran_order ? ndim - 1 - i : i;
    source_strides[source] = source_stride;
    source_stride *= std::max<int64_t>(header.shape[source], 1);
    target_strides[i] = target_stride;
    target_stride *= std::max<int64_t>(window.extent[i], 1);
  }
  for (int i = 0; i < ndim; ++i) {
    const int dim = header.is_fortran_order ? ndim - 1 - i : i;
    const int64_t begin = std::clamp<int64_t>(window.start[dim], 0, header.shape[dim]);
    const int64_t end =
        std::clamp<int64_t>(window.start[dim] + window.extent[dim], begin, header.shape[dim]);
    if (end == begin) is_empty_ = true;
    first_source_ += begin * source_strides[dim];
    first_target_ += (begin - window.start[dim]) * target_strides[dim];
    if (end - begin > 1)
      axes_.push_back({end - begin, source_strides[dim], target_strides[dim], 1, true, true});
  }
  for (size_t i = axes_.size(); i-- > 0;) {
    Axis& axis = axes_[i];
    const int64_t inner = span_from(i + 1);
    axis.span = (axis.extent - 1) * axis.source_stride + inner;
    axis.is_contiguous = is_contiguous_from(i + 1) && axis.source_stride == inner &&
                         axis.target_stride == axis.source_stride;
    axis.has_small_gaps = (axis.source_stride - inner) * bytes_ <= kSmallGap &&
                          (i + 1 == axes_.size() || axes_[i + 1].has_small_gaps);
  }
}

void NpyWindow::read(const Read& source, void* out) {
  if (is_empty_) return;
  read_axis(source, 0, first_source_, static_cast<char*>(out) + first_target_ * bytes_);
}

void NpyWindow::copy(const void* data, void* out) {
  if (is_empty_) return;
  const char* const in = static_cast<const char*>(data) + first_source_ * bytes_;
  char* const target = static_cast<char*>(out) + first_target_ * bytes_;
  place(0, axes_.empty() ? 1 : axes_[0].extent, in, target);
}

void NpyWindow::read_axis(const Read& source, size_t number, int64_t position, char* out) {
  if (is_contiguous_from(number)) {
    source(position * bytes_, out, span_from(number) * bytes_);
    if (swaps_) swap_elements(out, span_from(number), bytes_);
    return;
  }
  const Axis& axis = axes_[number];
  const int64_t fit = kBufferBytes / (axis.source_stride * bytes_);
  const int64_t step = axis.has_small_gaps ? std::clamp<int64_t>(fit, 1, axis.extent) : 1;
  for (int64_t i = 0; i < axis.extent; i += step) {
    const int64_t count = std::min(step, axis.extent - i);
    const int64_t from = position + i * axis.source_stride;
    char* const target = out + i * axis.target_stride * bytes_;
    if (step == 1) {
      read_axis(source, number + 1, from, target);
      continue;
    }
    const int64_t span = ((count - 1) * axis.source_stride + span_from(number + 1)) * bytes_;
    if (static_cast<int64_t>(buffer_.size()) < span) buffer_.resize(static_cast<size_t>(span));
    source(from * bytes_, buffer_.data(), span);
    place(number, count, buffer_.data(), target);
  }
}

void NpyWindow::place(size_t number, int64_t count, const char* in, char* out) const {
  if (number == axes_.size() || (axes_[number].is_contiguous && count == axes_[number].extent)) {
    const int64_t span = span_from(number);
    std::memcpy(out, in, static_cast<size_t>(span * bytes_));
    if (swaps_) swap_elements(out, span, bytes_);
    return;
  }
  const Axis& axis = axes_[number];
  if (number + 1 == axes_.size()) {
    if (bytes_ == 1) place_elements<uint8_t>(axis, count, in, out);
    if (bytes_ == 2) place_elements<uint16_t>(axis, count, in, out);
    if (bytes_ == 4) place_elements<uint32_t>(axis, count, in, out);
    if (bytes_ == 8) place_elements<uint64_t>(axis, count, in, out);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    place(number + 1, axes_[number + 1].extent, in + i * axis.source_stride * bytes_,
          out + i * axis.target_stride * bytes_);
}

template <typename Bits>
void NpyWindow::place_elements(const Axis& axis, int64_t count, const char* in, char* out) const {
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, in + i * axis.source_stride * bytes_, sizeof(bits));
    if (swaps_) bits = swapped(bits);
    std::memcpy(out + i * axis.target_stride * bytes_, &bits, sizeof(bits));
  }
}

}  // namespace dali_core
