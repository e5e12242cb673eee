#include "dali_core/native_io/image_decoding/image_decoder.hpp"

#include <optional>

#include "dali_core/kernels/jpeg/huffman_jpeg.hpp"
#include "dali_core/kernels/jpeg/jpeg_cost.hpp"
#include "dali_core/kernels/jpeg/jpeg_header.hpp"
#include "dali_core/kernels/jpeg/jpeg_segments.hpp"
#include "dali_core/native_io/image_decoding/image_format.hpp"
#include "dali_core/native_io/image_decoding/nvimgcodec_decoder.hpp"
#include "dali_core/native_io/image_decoding/png_check.hpp"
#include "dali_core/native_io/libjpeg/jpeg_decoder.hpp"

namespace dali_core {
namespace {

ImageFormat known_format(const EncodedImage& encoded) {
  if (encoded.size == 0)
    throw std::runtime_error("the bytes must be an image file (got none). The file is empty.");
  const ImageFormat format = format_of(encoded);
  if (format == ImageFormat::kUnknown) {
    const std::string kind = unsupported_kind(encoded);
    const std::string size = std::to_string(encoded.size) + " bytes";
    throw std::runtime_error(
        "the bytes must be an image file (got " +
        (kind.empty() ? size + " that start like no known format" : kind + " of " + size) +
        "). Use JPEG, PNG, BMP, TIFF, WebP, PNM or JPEG 2000, or leave the file out.");
  }
  return format;
}

// Asks another sink once: the decoder that takes over an image asks for the same again. A region
// may have been drawn at random, and memory declared as an output.
class RememberingSink : public ImageSink {
 public:
  explicit RememberingSink(ImageSink& inner) : inner_(inner) {}

  int allowed_shrinking(int64_t height, int64_t width) override {
    if (!shrinking_) shrinking_ = inner_.allowed_shrinking(height, width);
    return *shrinking_;
  }

  CropWindow choose_region(int64_t height, int64_t width) override {
    const Extents extents{height, width, 0};
    if (!region_ || !(extents == image_)) {
      region_ = inner_.choose_region(height, width);
      image_ = extents;
    }
    return *region_;
  }

  void* allocate(int64_t height, int64_t width, int channels) override {
    const Extents extents{height, width, channels};
    if (memory_ == nullptr || !(extents == result_)) {
      memory_ = inner_.allocate(height, width, channels);
      result_ = extents;
    }
    return memory_;
  }

 private:
  struct Extents {
    int64_t height = 0, width = 0;
    int channels = 0;
    bool operator==(const Extents& other) const {
      return height == other.height && width == other.width && channels == other.channels;
    }
  };

  ImageSink& inner_;
  std::optional<int> shrinking_;
  std::optional<CropWindow> region_;
  Extents image_, result_;
  void* memory_ = nullptr;
};

// Other kinds of JPEG are no damage: a user would delete sound files.
void refuse_unsupported(const EncodedImage& encoded, JpegKind kind) {
  const char* name = nullptr;
  if (kind == JpegKind::kLs) name = "JPEG-LS";
  if (kind == JpegKind::kHierarchical) name = "a hierarchical one";
  if (kind == JpegKind::kDeep) name = "one of other samples";
  std::string found = name != nullptr ? name : "";
  if (const auto header = read_jpeg_header(encoded); header && kind == JpegKind::kDeep)
    found = "one of " + std::to_string(header->frame.precision) + "-bit samples";
  if (name != nullptr)
    throw std::runtime_error(
        "a JPEG file must have 8-bit samples, and be sequential, progressive or lossless (got " +
        found + "). This kind is not supported, which is no damage; convert the file.");
}

void decode_by_library(const EncodedImage& encoded, const ImageRequest& request,
                       const DecoderBackends& backends, ImageSink& sink) {
  const JpegKind kind = jpeg_kind(encoded);
  refuse_unsupported(encoded, kind);
  // libjpeg-turbo has no lossless codes before version 3.
  if (backends.jpeg_by_libjpeg && kind != JpegKind::kLossless)
    return decode_jpeg(encoded, request, sink);
  decode_with_nvimgcodec(encoded, request, backends.codec_library, sink);
}

void decode_jpeg_file(const EncodedImage& encoded, const ImageRequest& request,
                      const DecoderBackends& backends, ImageSink& sink) {
  check_jpeg_cost(encoded);
  if (!backends.jpeg_by_own) return decode_by_library(encoded, request, backends, sink);
  if (auto* const planes = request.planar ? dynamic_cast<PlaneSink*>(&sink) : nullptr)
    if (decode_huffman_jpeg_planes(encoded, request, sink, *planes, backends.scan_indexes.get()))
      return;
  RememberingSink remembering(sink);
  if (decode_huffman_jpeg(encoded, request, remembering, backends.scan_indexes.get())) return;
  if (backends.jpeg_by_library) return decode_by_library(encoded, request, backends, remembering);
  throw std::runtime_error(
      "a JPEG file must have 8-bit samples in Huffman codes, be sequential in one scan or "
      "progressive, "
      "and be sound and complete, where DALI_CORE_JPEG is own (got one that is not). Unset it to "
      "decode with a library.");
}

}  // namespace

DecoderBackends::DecoderBackends(const OperatorConfig& config)
    : jpeg_by_libjpeg(has_libjpeg()), codec_library(config) {
  constexpr int64_t kMegabyte = 1 << 20;
  if (const int64_t size = config.get_or<int64_t>("jpeg_index_size", 0); size > 0)
    scan_indexes = std::make_shared<ScanIndexes>(static_cast<size_t>(size * kMegabyte));
  const std::string wanted = config.get_or<std::string>("jpeg_backend", "");
  if (wanted.empty()) return;
  if (wanted != "own" && wanted != "libjpeg" && wanted != "nvimgcodec")
    throw std::invalid_argument("DALI_CORE_JPEG must be own, libjpeg or nvimgcodec (got \"" +
                                wanted + "\"). Unset it to use what is there.");
  if (wanted == "libjpeg" && !has_libjpeg())
    throw std::invalid_argument(
        "DALI_CORE_JPEG must name a library that is there (got \"libjpeg\", which this build is "
        "without). Build with libjpeg-turbo's development files, or unset it.");
  jpeg_by_own = wanted == "own";
  jpeg_by_library = !jpeg_by_own;
  jpeg_by_libjpeg = wanted == "libjpeg";
}

ImageRequest make_image_request(const OperatorConfig& config) {
  ImageRequest request;
  request.output_type = config.get_or("output_type", request.output_type);
  request.dtype = config.get_or("dtype", request.dtype);
  request.adjust_orientation = config.get_or<int>("adjust_orientation", 1) != 0;
  request.fast_dct = config.get_or<int>("use_fast_idct", 0) != 0;
  request.scaled = config.get_or<int>("scaled_decode", 0) != 0;
  request.planar = config.get_or<std::string>("chroma", "") == "resample";
  return request;
}

void decode_image(const EncodedImage& encoded, const ImageRequest& request,
                  const DecoderBackends& backends, ImageSink& sink) {
  const ImageFormat format = known_format(encoded);
  if (format == ImageFormat::kJpeg) return decode_jpeg_file(encoded, request, backends, sink);
  if (format == ImageFormat::kPng) check_png(encoded);
  decode_with_nvimgcodec(encoded, request, backends.codec_library, sink);
}

ImageInfo peek_image(const EncodedImage& encoded, const DecoderBackends& backends) {
  if (known_format(encoded) == ImageFormat::kJpeg) {
    const auto header = read_jpeg_header(encoded);
    refuse_unsupported(encoded, jpeg_kind(encoded));
    if (!header)
      throw std::runtime_error(
          "a JPEG file must have a frame header (got none). The file is damaged.");
    ImageInfo info;
    info.format = "jpeg";
    info.height = header->frame.height;
    info.width = header->frame.width;
    info.channels = static_cast<int>(header->frame.components.size());
    info.sample_type = header->frame.precision > 8 ? DataType::kUInt16 : DataType::kUInt8;
    info.orientation = header->orientation;
    check_image_size(info.height, info.width, encoded.size);
    return info;
  }
  return peek_with_nvimgcodec(encoded, backends.codec_library);
}

}  // namespace dali_core
