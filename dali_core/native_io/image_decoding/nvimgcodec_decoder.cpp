#include "dali_core/native_io/image_decoding/nvimgcodec_decoder.hpp"

#include <stdexcept>
#include <vector>

#include "dali_core/kernels/encoded_image/cmyk.hpp"
#include "dali_core/kernels/encoded_image/orientation.hpp"
#include "dali_core/kernels/encoded_image/pixel_rules.hpp"
#include "dali_core/kernels/encoded_image/pixel_writer.hpp"
#include "dali_core/kernels/jpeg/jpeg_header.hpp"
#include "dali_core/kernels/jpeg/jpeg_segments.hpp"
#include "dali_core/native_io/image_decoding/codec_session.hpp"
#include "dali_core/native_io/image_decoding/stored_orientation.hpp"

namespace dali_core {

#if DALI_CORE_HAVE_NVIMGCODEC

namespace {

// What the library is told, and what is done to its pixels, to get the requested colours.
struct ColourPlan {
  ImageType model = ImageType::kRGB;
  int channels = 3;  // as the library gives them
  bool to_grey = false;
  bool from_grey = false;
  PixelChange change = PixelChange::kNone;
};

// Of lossless JPEG, colours are not converted by the library.
ColourPlan plan_colours(ImageType wanted, const ImageInfo& info, bool is_lossless) {
  ColourPlan plan;
  const bool is_cmyk = info.format == "jpeg" && info.channels == 4;
  if (wanted == ImageType::kGray || (wanted == ImageType::kAnyData && info.channels == 1)) {
    plan.to_grey = is_cmyk || (is_lossless && info.channels == 3);
    if (!plan.to_grey) plan = {ImageType::kGray, 1};
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
  if (is_lossless && info.channels == 1 && plan.model == ImageType::kRGB) {
    plan.model = ImageType::kGray;
    plan.channels = 1;
    plan.from_grey = true;
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

  const bool is_lossless = info.format == "jpeg" && jpeg_kind(encoded) == JpegKind::kLossless;
  const ColourPlan plan = plan_colours(request.output_type, info, is_lossless);
  StoredPixels stored;
  stored.sample_type = info.sample_type;
  stored.channels = plan.to_grey ? 1 : plan.from_grey ? 3 : plan.channels;
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
  const bool direct = writer.is_copy() && !plan.to_grey && !plan.from_grey &&
                      decoded.width == part.width && decoded.height == part.height;
  uint8_t* pixels = session.decode(codec_request, direct ? output : nullptr);
  if (direct) return;
  pixels += (part.y - decoded.y) * row + (part.x - decoded.x) * pixel;
  if (plan.to_grey)
    for (int64_t y = 0; y < part.height; ++y)
      rgb_row_to_truncated_grey(pixels + y * row, part.width, pixels + y * row);
  if (plan.from_grey) {
    std::vector<uint8_t> colours(static_cast<size_t>(3 * part.width));
    for (int64_t y = 0; y < part.height; ++y) {
      for (int64_t i = 0; i < 3 * part.width; ++i)
        colours[static_cast<size_t>(i)] = pixels[y * row + i / 3];
      writer.write(colours.data(), 3 * part.width, y, 1);
    }
    return;
  }
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
