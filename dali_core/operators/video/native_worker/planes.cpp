#include "dali_core/operators/video/native_worker/planes.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "dali_core/operators/video/native_worker/container.hpp"

namespace dali_core {
namespace {

constexpr size_t kAlignment = 64;

size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

[[noreturn]] void refuse(const AVFrame& frame, const char* reason) {
  const char* name = ::av_get_pix_fmt_name(static_cast<AVPixelFormat>(frame.format));
  throw VideoFileError("its pixel format " + std::string(name != nullptr ? name : "?") + reason);
}

// Formats with "j" in their name: all values are used.
bool is_always_full(int format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ411P:
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ444P:
      return true;
    default:
      return false;
  }
}

// Number of the component that plane `plane` of ours has: Y, U, V, or G, B, R.
int component_of(int plane, bool is_rgb) { return is_rgb ? (plane + 1) % 3 : plane; }

// Whether component and plane of ours are one: samples of their own size, lowest bits first.
bool is_plane(const AVPixFmtDescriptor& kind, int plane, bool is_rgb) {
  const AVComponentDescriptor& part = kind.comp[component_of(plane, is_rgb)];
  return part.plane == plane && part.offset == 0 && part.shift == 0 &&
         part.step == (part.depth > 8 ? 2 : 1);
}

// Components that are not planes of ours: interleaved, of a palette, or with bits elsewhere.
class Samples {
 public:
  Samples(const AVFrame& frame, int plane, bool is_rgb, int bits)
      : frame_(frame),
        kind_(*::av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format))),
        component_(component_of(plane, is_rgb)),
        bits_(bits) {}

  void read(size_t y, size_t width, uint8_t* target) {
    row_.resize(width);
    const int row = static_cast<int>(y);
    if (kind_.flags & AV_PIX_FMT_FLAG_PAL) {
      read_palette(row, target);
      return;
    }
    ::av_read_image_line2(row_.data(), const_cast<const uint8_t**>(frame_.data), frame_.linesize,
                          &kind_, 0, row, component_, static_cast<int>(width), 0, sizeof(uint16_t));
    const unsigned most = (1u << kind_.comp[component_].depth) - 1, wanted = (1u << bits_) - 1;
    const bool is_white_zero = frame_.format == AV_PIX_FMT_MONOWHITE;
    for (size_t x = 0; x < width; ++x) {
      unsigned value = std::min<unsigned>(row_[x], most);
      if (is_white_zero) value = most - value;
      if (most != wanted) value = (value * wanted + most / 2) / most;
      if (bits_ > 8) {
        const auto sample = static_cast<uint16_t>(value);
        std::memcpy(target + 2 * x, &sample, sizeof sample);
      } else {
        target[x] = static_cast<uint8_t>(value);
      }
    }
  }

 private:
  void read_palette(int row, uint8_t* target) const {
    const uint8_t* numbers = frame_.data[0] + std::ptrdiff_t{row} * frame_.linesize[0];
    for (size_t x = 0; x < row_.size(); ++x) {
      uint32_t colour;  // alpha, red, green, blue, from the highest byte on
      std::memcpy(&colour, frame_.data[1] + 4 * numbers[x], sizeof colour);
      target[x] = static_cast<uint8_t>(colour >> (16 - 8 * component_));
    }
  }

  const AVFrame& frame_;
  const AVPixFmtDescriptor& kind_;
  const int component_;
  const int bits_;
  std::vector<uint16_t> row_;
};

}  // namespace

PlaneLayout::PlaneLayout(const AVFrame& frame) {
  const AVPixFmtDescriptor* found = ::av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  constexpr uint64_t kOthers =
      AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BE;
  if (found == nullptr) refuse(frame, " is not supported");
  const AVPixFmtDescriptor& kind = *found;
  is_rgb_ = (kind.flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
  num_planes_ = kind.nb_components < 3 && !is_rgb_ ? 1 : 3;
  int depth = 0, least = 16;
  const bool has_palette = (kind.flags & AV_PIX_FMT_FLAG_PAL) != 0;
  for (int i = 0; i < (has_palette ? 1 : num_planes_); ++i) {
    depth = std::max(depth, kind.comp[i].depth);
    least = std::min(least, kind.comp[i].depth);
  }
  const bool is_xyz = frame.format == AV_PIX_FMT_XYZ12LE;
  if ((kind.flags & kOthers) || is_xyz || depth < 1 || depth > 16 || kind.log2_chroma_w > 2 ||
      kind.log2_chroma_h > 2)
    refuse(frame, " is not supported");
  bits_ = std::max(8, depth);
  shift_x_ = num_planes_ == 3 && !is_rgb_ ? kind.log2_chroma_w : 0;
  shift_y_ = num_planes_ == 3 && !is_rgb_ ? kind.log2_chroma_h : 0;
  // Black and white, and grey beside transparency, come from formats for images.
  is_full_ = is_rgb_ || depth < 8 || kind.nb_components == 2 || is_always_full(frame.format);
  is_planar_ = !has_palette && least == depth && depth >= 8;
  for (int i = 0; i < num_planes_; ++i) {
    is_planar_ = is_planar_ && is_plane(kind, i, is_rgb_);
    const int shift_x = i == 0 ? 0 : shift_x_, shift_y = i == 0 ? 0 : shift_y_;
    width_[i] = static_cast<size_t>((frame.width + (1 << shift_x) - 1) >> shift_x);
    height_[i] = static_cast<size_t>((frame.height + (1 << shift_y) - 1) >> shift_y);
    stride_[i] = aligned(width_[i] * (bits_ > 8 ? 2 : 1));
    size_ += stride_[i] * height_[i];
  }
}

void PlaneLayout::copy(const AVFrame& frame, uint8_t* memory, size_t& at, SentFrame& sent) const {
  for (int i = 0; i < num_planes_; ++i) {
    sent.offset[i] = static_cast<int64_t>(at);
    sent.stride[i] = static_cast<int64_t>(stride_[i]);
    uint8_t* target = memory + at;
    if (is_planar_) {
      const size_t bytes = width_[i] * (bits_ > 8 ? 2 : 1);
      if (frame.linesize[i] <= 0) refuse(frame, " is upside down");
      const uint8_t* source = frame.data[i];
      for (size_t y = 0; y < height_[i]; ++y, source += frame.linesize[i])
        std::memcpy(target + y * stride_[i], source, bytes);
    } else {
      Samples samples(frame, i, is_rgb_, bits_);
      for (size_t y = 0; y < height_[i]; ++y) samples.read(y, width_[i], target + y * stride_[i]);
    }
    at += stride_[i] * height_[i];
  }
  sent.width = frame.width;
  sent.height = frame.height;
  sent.num_planes = num_planes_;
  sent.chroma_shift_x = shift_x_;
  sent.chroma_shift_y = shift_y_;
  sent.bits = bits_;
  sent.full_range = is_full_ || frame.color_range == AVCOL_RANGE_JPEG;
  sent.is_rgb = is_rgb_;
  sent.matrix = frame.colorspace;
}

}  // namespace dali_core
