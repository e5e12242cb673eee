#include "dali_core/native_io/libjpeg/jpeg_decoder.hpp"

#if DALI_CORE_HAVE_LIBJPEG

#include <algorithm>
#include <vector>

#include "dali_core/kernels/encoded_image/cmyk.hpp"
#include "dali_core/kernels/encoded_image/orientation.hpp"
#include "dali_core/kernels/encoded_image/pixel_writer.hpp"
#include "dali_core/kernels/jpeg/jpeg_header.hpp"
#include "dali_core/native_io/libjpeg/libjpeg_session.hpp"

namespace dali_core {
namespace {

// Rows that are decoded at once where they need a change: few enough to stay in the cache, and
// enough to write whole cache lines when the image is transposed.
constexpr int kRowsAtOnce = 16;

// What libjpeg is told, and what is done to its rows, to get the requested colours.
struct ColourPlan {
  J_COLOR_SPACE colour_space;
  int row_channels;     // as libjpeg gives them
  int stored_channels;  // as the writer gets them
  bool from_cmyk = false;
  bool cmyk_to_grey = false;
  PixelChange change = PixelChange::kNone;
};

ColourPlan plan_colours(ImageType wanted, J_COLOR_SPACE stored) {
  const bool is_grey = stored == JCS_GRAYSCALE;
  if (stored == JCS_CMYK || stored == JCS_YCCK) {
    ColourPlan plan{JCS_CMYK, 4, 3};
    plan.from_cmyk = true;
    plan.cmyk_to_grey = wanted == ImageType::kGray;
    if (plan.cmyk_to_grey) plan.stored_channels = 1;
    if (wanted == ImageType::kBGR) plan.change = PixelChange::kSwapRedBlue;
    if (wanted == ImageType::kYCbCr) plan.change = PixelChange::kRgbToYCbCr;
    return plan;
  }
  ColourPlan plan{JCS_RGB, 3, 3};
  if (wanted == ImageType::kGray || (is_grey && wanted == ImageType::kAnyData)) {
    plan = ColourPlan{JCS_GRAYSCALE, 1, 1};
  } else if (wanted == ImageType::kBGR) {
    plan.colour_space = JCS_EXT_BGR;
  } else if (wanted == ImageType::kYCbCr) {
    plan.change = PixelChange::kRgbToYCbCr;
  }
  return plan;
}

// What decodes JPEG in one thread.
class JpegDecoder {
 public:
  static JpegDecoder& of_this_thread() {
    static thread_local JpegDecoder decoder;
    return decoder;
  }

  void decode(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink) {
    session_.open(encoded);
    const CloseAtExit close{session_};
    session_.call([this] { jpeg_read_header(&info_, TRUE); });
    Orientation orientation;
    if (request.adjust_orientation)
      if (const auto header = read_jpeg_header(encoded)) orientation = header->orientation;
    const ColourPlan plan = plan_colours(request.output_type, info_.jpeg_color_space);
    info_.out_color_space = plan.colour_space;
    // The reference decodes turned images by another path, which has the accurate transform only.
    info_.dct_method = request.fast_dct && orientation.is_identity() ? JDCT_IFAST : JDCT_ISLOW;
    if (request.scaled) shrink(sink, orientation);
    session_.call([this] { jpeg_calc_output_dimensions(&info_); });
    const CropWindow part =
        choose_stored_region(sink, info_.output_height, info_.output_width, orientation);
    session_.call([this] { jpeg_start_decompress(&info_); });

    StoredPixels stored;
    stored.channels = plan.stored_channels;
    PixelWriter writer(stored, plan.change, request.dtype, orientation, part.height, part.width);
    writer.set_output(allocate_result(sink, part, orientation, stored.channels));
    const int64_t left = crop_columns(part);
    skip_rows(part.y);
    if (writer.is_copy() && !plan.from_cmyk && info_.output_width == part.width)
      read_rows(part.height, writer.stored_row_bytes(), writer.output());
    else
      read_in_chunks(plan, part, left, writer);
    finish(encoded);
  }

 private:
  struct CloseAtExit {
    LibjpegSession& session;
    ~CloseAtExit() { session.close(); }
  };

  // Fewer coefficients of each block make a smaller block.
  void shrink(ImageSink& sink, const Orientation& orientation) {
    int64_t height = info_.image_height;
    int64_t width = info_.image_width;
    if (orientation.transpose) std::swap(height, width);
    info_.scale_num = 1;
    info_.scale_denom = static_cast<unsigned>(sink.allowed_shrinking(height, width));
  }

  // Leaves out columns of blocks that the part does not need. Gives the part's first column in the
  // rows that libjpeg then delivers.
  int64_t crop_columns(const CropWindow& part) {
    // Interpolated chroma depends on its neighbours, and the first and last column of a cropped row
    // are computed as if there were none.
    const int64_t margin = 2 * info_.max_h_samp_factor;
    const int64_t width = info_.output_width;
    const int64_t first = std::max<int64_t>(0, part.x - margin);
    const int64_t last =
        std::min(width, std::max(part.x + part.width + margin, first + kLeastCrop));
    // Of components whose blocks are enlarged, and which are interpolated still, libjpeg-turbo
    // crops too many columns.
    const bool is_enlarged = info_.scale_denom > 1 && info_.max_h_samp_factor > 2;
    if ((first == 0 && last == width) || is_enlarged || is_smoothed()) return part.x;
    JDIMENSION offset = static_cast<JDIMENSION>(first);
    JDIMENSION count = static_cast<JDIMENSION>(last - first);
    session_.call([&] { jpeg_crop_scanline(&info_, &offset, &count); });
    return part.x - offset;
  }

  // Where scans of a progressive file are missing, libjpeg smooths blocks by their neighbours,
  // which a cropped row is without.
  bool is_smoothed() const {
    constexpr int kCoefficientsUsed = 10;
    if (!info_.progressive_mode || info_.coef_bits == nullptr) return false;
    for (int component = 0; component < info_.num_components; ++component)
      for (int i = 0; i < kCoefficientsUsed; ++i)
        if (info_.coef_bits[component][i] != 0) return true;
    return false;
  }

  void skip_rows(int64_t count) {
    if (count > 0)
      session_.call([&] { jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(count)); });
  }

  // Reads `count` rows, `stride` bytes apart.
  void read_rows(int64_t count, int64_t stride, uint8_t* first) {
    int64_t done = 0;
    session_.call([&] {
      JSAMPROW rows[kRowsAtOnce];
      while (done < count) {
        const int some = static_cast<int>(std::min<int64_t>(kRowsAtOnce, count - done));
        for (int i = 0; i < some; ++i) rows[i] = first + (done + i) * stride;
        const JDIMENSION read = jpeg_read_scanlines(&info_, rows, static_cast<JDIMENSION>(some));
        if (read == 0) break;
        done += read;
      }
    });
    if (done < count)
      throw std::runtime_error("a JPEG file must have all its rows (got " +
                               std::to_string(info_.output_scanline) + " of " +
                               std::to_string(info_.output_height) + "). The file is damaged.");
  }

  void read_in_chunks(const ColourPlan& plan, const CropWindow& part, int64_t left,
                      const PixelWriter& writer) {
    const int64_t stride = int64_t{info_.output_width} * plan.row_channels;
    uint8_t* const first = rows(stride * kRowsAtOnce);
    uint8_t* const pixels = first + left * plan.row_channels;
    for (int64_t y = 0; y < part.height; y += kRowsAtOnce) {
      const int64_t count = std::min<int64_t>(kRowsAtOnce, part.height - y);
      read_rows(count, stride, first);
      if (plan.from_cmyk) {
        for (int64_t i = 0; i < count; ++i) {
          uint8_t* row = pixels + i * stride;
          cmyk_row_to_rgb(row, part.width, info_.saw_Adobe_marker);
          if (plan.cmyk_to_grey) rgb_row_to_truncated_grey(row, part.width, row);
        }
      }
      writer.write(pixels, stride, y, count);
    }
  }

  // What follows the last wanted row is not decoded if the file seems complete. If it was cut off,
  // the rest is read: whether a file counts as damaged must not depend on the region.
  void finish(const EncodedImage& encoded) {
    if (info_.output_scanline >= info_.output_height) return;
    if (has_end_of_jpeg(encoded, encoded.size - session_.bytes_left())) return;
    // Skipping up to the end is not decoding: the last row must be asked for.
    skip_rows(info_.output_height - info_.output_scanline - 1);
    const int64_t stride = int64_t{info_.output_width} * info_.output_components;
    read_rows(1, stride, rows(stride));
  }

  uint8_t* rows(int64_t bytes) {
    rows_.resize(std::max(rows_.size(), static_cast<size_t>(bytes)));
    return rows_.data();
  }

  static constexpr int64_t kLeastCrop = 64;

  LibjpegSession session_;
  jpeg_decompress_struct& info_ = session_.info();
  std::vector<uint8_t> rows_;
};

}  // namespace

bool has_libjpeg() { return true; }

void decode_jpeg(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink) {
  JpegDecoder::of_this_thread().decode(encoded, request, sink);
}

}  // namespace dali_core

#else

namespace dali_core {

bool has_libjpeg() { return false; }

void decode_jpeg(const EncodedImage&, const ImageRequest&, ImageSink&) {
  throw std::logic_error("this build has no libjpeg-turbo");
}

}  // namespace dali_core

#endif
