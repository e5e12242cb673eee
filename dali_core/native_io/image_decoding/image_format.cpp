#include "dali_core/native_io/image_decoding/image_format.hpp"

#include <cstring>

#include "dali_core/kernels/jpeg/jpeg_header.hpp"
#include "dali_core/native_io/files/compressed_kind.hpp"
#include "dali_core/native_io/image_decoding/png_check.hpp"

namespace dali_core {
namespace {

// Literals may contain zeros; their last one does not count.
template <size_t size>
bool has_at(const EncodedImage& encoded, size_t position, const char (&text)[size]) {
  return encoded.size >= position + size - 1 &&
         std::memcmp(encoded.data + position, text, size - 1) == 0;
}

bool looks_like_pnm(const EncodedImage& encoded) {
  if (encoded.size < 3 || encoded.data[0] != 'P') return false;
  const uint8_t kind = encoded.data[1], next = encoded.data[2];
  return kind >= '1' && kind <= '6' && (next == ' ' || (next >= '\t' && next <= '\r'));
}

}  // namespace

ImageFormat format_of(const EncodedImage& encoded) {
  if (looks_like_jpeg(encoded)) return ImageFormat::kJpeg;
  if (looks_like_png(encoded)) return ImageFormat::kPng;
  if (has_at(encoded, 0, "BM")) return ImageFormat::kBmp;
  // The last two are BigTIFF.
  if (has_at(encoded, 0, "II*\0") || has_at(encoded, 0, "MM\0*") || has_at(encoded, 0, "II+\0") ||
      has_at(encoded, 0, "MM\0+"))
    return ImageFormat::kTiff;
  if (has_at(encoded, 0, "RIFF") && has_at(encoded, 8, "WEBP")) return ImageFormat::kWebp;
  if (looks_like_pnm(encoded)) return ImageFormat::kPnm;
  if (has_at(encoded, 0, "\0\0\0\x0CjP  \r\n\x87\n") || has_at(encoded, 0, "\xFF\x4F\xFF\x51"))
    return ImageFormat::kJpeg2000;
  return ImageFormat::kUnknown;
}

const char* unsupported_kind(const EncodedImage& encoded) {
  if (has_at(encoded, 0, "GIF8")) return "a GIF image";
  if (has_at(encoded, 4, "ftypavif") || has_at(encoded, 4, "ftypavis")) return "an AVIF image";
  if (has_at(encoded, 4, "ftyphei") || has_at(encoded, 4, "ftypmif1")) return "an HEIC image";
  if (has_at(encoded, 4, "ftyp")) return "an MP4 file";
  if (has_at(encoded, 0, "\0\0\0\x0CJXL ") || has_at(encoded, 0, "\xFF\x0A"))
    return "a JPEG XL image";
  if (const char* const kind = compressed_kind(encoded.data, static_cast<int64_t>(encoded.size)))
    return kind;
  if (has_at(encoded, 0, "%PDF")) return "a PDF document";
  if (has_at(encoded, 0, "<svg") || has_at(encoded, 0, "<?xml")) return "an SVG or XML document";
  if (has_at(encoded, 0, "<html") || has_at(encoded, 0, "<!DOCTYPE") ||
      has_at(encoded, 0, "<!doctype"))
    return "a page of HTML";
  return "";
}

}  // namespace dali_core
