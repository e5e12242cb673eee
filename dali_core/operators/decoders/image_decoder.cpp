#include "dali_core/operators/decoders/image_decoder.hpp"

#include "dali_core/operators/decoders/image_format.hpp"
#include "dali_core/operators/decoders/jpeg_cost.hpp"
#include "dali_core/operators/decoders/jpeg_decoder.hpp"
#include "dali_core/operators/decoders/jpeg_header.hpp"
#include "dali_core/operators/decoders/nvimgcodec_decoder.hpp"
#include "dali_core/operators/decoders/png_check.hpp"

namespace dali_core {
namespace {

ImageFormat known_format(const EncodedImage& encoded) {
  if (encoded.size == 0)
    throw std::runtime_error("the bytes must be an image file (got none). The file is empty.");
  const ImageFormat format = format_of(encoded);
  if (format == ImageFormat::kUnknown)
    throw std::runtime_error("the bytes must be an image file (got " +
                             std::to_string(encoded.size) +
                             " bytes that start like no known format). Use JPEG, PNG, BMP, TIFF, "
                             "WebP, PNM or JPEG 2000, or leave the file out.");
  return format;
}

}  // namespace

DecoderBackends::DecoderBackends(const OperatorConfig& config)
    : jpeg_by_libjpeg(has_libjpeg()), codec_library(config) {
  const std::string wanted = config.get_or<std::string>("jpeg_backend", "");
  if (wanted.empty()) return;
  if (wanted != "libjpeg" && wanted != "nvimgcodec")
    throw std::invalid_argument("DALI_CORE_JPEG must be libjpeg or nvimgcodec (got \"" + wanted +
                                "\"). Unset it to use what is there.");
  if (wanted == "libjpeg" && !has_libjpeg())
    throw std::invalid_argument(
        "DALI_CORE_JPEG must name a library that is there (got \"libjpeg\", which this build is "
        "without). Build with libjpeg-turbo's development files, or unset it.");
  jpeg_by_libjpeg = wanted == "libjpeg";
}

ImageRequest make_image_request(const OperatorConfig& config) {
  ImageRequest request;
  request.output_type = config.get_or("output_type", request.output_type);
  request.dtype = config.get_or("dtype", request.dtype);
  request.adjust_orientation = config.get_or<int>("adjust_orientation", 1) != 0;
  request.fast_dct = config.get_or<int>("use_fast_idct", 0) != 0;
  request.scaled = config.get_or<int>("scaled_decode", 0) != 0;
  switch (request.dtype) {
    case DataType::kUInt8:
    case DataType::kInt8:
    case DataType::kUInt16:
    case DataType::kInt16:
    case DataType::kUInt32:
    case DataType::kInt32:
    case DataType::kFloat16:
    case DataType::kFloat:
      break;
    default:
      throw std::invalid_argument(
          std::string("dtype must be an integer of up to 32 bits, float16 or float32 (got ") +
          name_of(request.dtype) + "). Decode to one of these and cast.");
  }
  return request;
}

void decode_image(const EncodedImage& encoded, const ImageRequest& request,
                  const DecoderBackends& backends, ImageSink& sink) {
  const ImageFormat format = known_format(encoded);
  if (format == ImageFormat::kJpeg) check_jpeg_cost(encoded);
  if (backends.jpeg_by_libjpeg && format == ImageFormat::kJpeg)
    return decode_jpeg(encoded, request, sink);
  if (format == ImageFormat::kPng) check_png(encoded);
  decode_with_nvimgcodec(encoded, request, backends.codec_library, sink);
}

ImageInfo peek_image(const EncodedImage& encoded, const DecoderBackends& backends) {
  if (known_format(encoded) == ImageFormat::kJpeg) {
    const auto header = read_jpeg_header(encoded);
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
