#include "dali_core/kernels/image_decoding/nvimgcodec_decoder.hpp"

#include <stdexcept>

#include "dali_core/kernels/encoded_image/cmyk.hpp"
#include "dali_core/kernels/encoded_image/orientation.hpp"
#include "dali_core/kernels/encoded_image/pixel_rules.hpp"
#include "dali_core/kernels/encoded_image/pixel_writer.hpp"
#include "dali_core/kernels/image_decoding/codec_session.hpp"
#include "dali_core/kernels/image_decoding/stored_orientation.hpp"
#include "dali_core/kernels/jpeg/jpeg_header.hpp"

namespace dali_core {

#if DALI_CORE_HAVE_NVIMGCODEC

namespace {

// What the library is told, and what is done to its pixels, to get the requested colours.
struct ColourPlan {
  ImageType model = ImageType::kRGB;
  int channels = 3;  // as the library gives them
  bool cmyk_to_grey = false;
  PixelChange change = PixelChange::kNone;
};

ColourPlan plan_colours(ImageType wanted, const ImageInfo& info) {
  ColourPlan plan;
  const bool is_cmyk = info.format == "jpeg" && info.channels == 4;
  if (wanted == ImageType::kGray || (wanted == ImageType::kAnyData && info.channels == 1)) {
    plan.cmyk_to_grey = is_cmyk;
    if (!is_cmyk) plan = {ImageType::kGray, 1};
  } else if (wanted == ImageType::kBGR) {
    plan.change = PixelChange::kSwapRedBlue;
  } else if (wanted == ImageType::kYCbCr) {
    plan.change = PixelChange::kRgbToYCbCr;
  } else if (wanted == ImageType::kAnyData && !is_cmyk && info.channels != 3) {
    if (info.channels == 2)
      throw std::runtime_error(
          "ANY_DATA must not meet an image of grey and alpha, which no codec here can give (got "
          "one). Choose another output_type.");
    plan.model = ImageType::kAnyData;
    plan.channels = info.channels;
  }
  return plan;
}

bool seems_complete(const EncodedImage& encoded, const ImageInfo& info) {
  if (info.format != "jpeg") return true;
  const auto header = read_jpeg_header(encoded);
  return header && has_end_of_jpeg(encoded, header->size);
}

}  // namespace

ImageInfo peek_with_nvimgcodec(const EncodedImage& encoded, const CodecLibraryPaths& paths) {
  ImageInfo info = CodecSession::of_this_thread(paths).open(encoded);
  info.orientation = stored_orientation(encoded, info.orientation);
  return info;
}

void decode_with_nvimgcodec(const EncodedImage& encoded, const ImageRequest& request,
                            const CodecLibraryPaths& paths, ImageSink& sink) {
  CodecSession& session = CodecSession::of_this_thread(paths);
  const ImageInfo info = session.open(encoded);
  const Orientation orientation =
      request.adjust_orientation ? stored_orientation(encoded, info.orientation) : Orientation{};
  const CropWindow part = choose_stored_region(sink, info.height, info.width, orientation);
  // Whether a file counts as damaged must not depend on the region: one that was cut off is read
  // to where it ends.
  const bool whole =
      (part.height == info.height && part.width == info.width) || !seems_complete(encoded, info);

  const ColourPlan plan = plan_colours(request.output_type, info);
  StoredPixels stored;
  stored.sample_type = info.sample_type;
  stored.channels = plan.cmyk_to_grey ? 1 : plan.channels;
  visit_type(info.sample_type, [&](auto zero) { stored.range = full_range<decltype(zero)>(); });
  PixelWriter writer(stored, plan.change, request.dtype, orientation, part.height, part.width);
  void* output = allocate_result(sink, part, orientation, stored.channels);
  writer.set_output(output);

  const CropWindow decoded = whole ? CropWindow{0, 0, info.height, info.width} : part;
  CodecRequest codec_request;
  codec_request.part = decoded;
  codec_request.is_whole = whole;
  codec_request.model = plan.model;
  codec_request.channels = plan.channels;
  codec_request.sample_type = stored.sample_type;
  codec_request.fast_dct = request.fast_dct && orientation.is_identity();
  const int64_t pixel = plan.channels * size_of(stored.sample_type);
  const int64_t row = decoded.width * pixel;
  const bool direct = writer.is_copy() && !plan.cmyk_to_grey && decoded.width == part.width &&
                      decoded.height == part.height;
  uint8_t* pixels = session.decode(codec_request, direct ? output : nullptr);
  if (direct) return;
  pixels += (part.y - decoded.y) * row + (part.x - decoded.x) * pixel;
  if (plan.cmyk_to_grey)
    for (int64_t y = 0; y < part.height; ++y)
      rgb_row_to_truncated_grey(pixels + y * row, part.width, pixels + y * row);
  writer.write(pixels, row, 0, part.height);
}

#else

namespace {
[[noreturn]] void refuse() {
  throw std::runtime_error(
      "this format needs nvImageCodec (got a build without it). Build with "
      "nvidia-nvimgcodec-cu12.");
}
}  // namespace

ImageInfo peek_with_nvimgcodec(const EncodedImage&, const CodecLibraryPaths&) { refuse(); }

void decode_with_nvimgcodec(const EncodedImage&, const ImageRequest&, const CodecLibraryPaths&,
                            ImageSink&) {
  refuse();
}

#endif

}  // namespace dali_core
