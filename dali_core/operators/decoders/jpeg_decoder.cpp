#include "dali_core/operators/decoders/jpeg_decoder.hpp"

#if DALI_CORE_HAVE_LIBJPEG

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <memory>
#include <vector>

#include "dali_core/operators/decoders/cmyk.hpp"
#include "dali_core/operators/decoders/jpeg_header.hpp"
#include "dali_core/operators/decoders/orientation.hpp"
#include "dali_core/operators/decoders/pixel_writer.hpp"

extern "C" {
#include <jpeglib.h>
}

#ifndef LIBJPEG_TURBO_VERSION_NUMBER
#error "libjpeg-turbo is needed: other libjpegs cannot decode a region"
#endif

namespace dali_core {
namespace {

// A progressive file may repeat scans to cost hours; encoders write about ten.
constexpr int kMaxScans = 500;

// Rows that are decoded at once where they need a change: few enough to stay in the cache, and
// enough to write whole cache lines when the image is transposed.
constexpr int kRowsAtOnce = 16;

// libjpeg reports errors by a function that must not return, so it jumps. Nothing between a jump
// and `guarded` may have a destructor.
struct ErrorManager : jpeg_error_mgr {
  std::jmp_buf target;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_error(j_common_ptr info) {
  ErrorManager* errors = static_cast<ErrorManager*>(info->err);
  errors->format_message(info, errors->message);
  std::longjmp(errors->target, 1);
}

[[noreturn]] void fail(j_common_ptr info, const char* message) {
  ErrorManager* errors = static_cast<ErrorManager*>(info->err);
  std::snprintf(errors->message, sizeof errors->message, "%s", message);
  std::longjmp(errors->target, 1);
}

void ignore_message(j_common_ptr, int) {}
void print_nothing(j_common_ptr) {}

void start_source(j_decompress_ptr) {}

// All bytes are there from the start: whoever asks for more has a file that was cut off.
boolean end_of_source(j_decompress_ptr info) {
  fail(reinterpret_cast<j_common_ptr>(info), "premature end of file");
}

void skip_source(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  jpeg_source_mgr* source = info->src;
  if (static_cast<size_t>(count) > source->bytes_in_buffer) end_of_source(info);
  source->next_input_byte += count;
  source->bytes_in_buffer -= static_cast<size_t>(count);
}

void check_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans)
    fail(info, "more than 500 scans");
}

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

// libjpeg's state for one thread. It is reused from image to image.
class JpegDecompressor {
 public:
  JpegDecompressor() {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = on_error;
    errors_.emit_message = ignore_message;  // damage that libjpeg can repair is let pass
    errors_.output_message = print_nothing;
    if (!guarded([this] { jpeg_create_decompress(&info_); })) throw std::bad_alloc();
    source_.init_source = start_source;
    source_.fill_input_buffer = end_of_source;
    source_.skip_input_data = skip_source;
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.term_source = start_source;
    info_.src = &source_;
    progress_.progress_monitor = check_scans;
    info_.progress = &progress_;
  }
  ~JpegDecompressor() { jpeg_destroy_decompress(&info_); }
  JpegDecompressor(const JpegDecompressor&) = delete;
  JpegDecompressor& operator=(const JpegDecompressor&) = delete;

  static JpegDecompressor& of_this_thread() {
    static thread_local std::unique_ptr<JpegDecompressor> decompressor;
    if (!decompressor) decompressor.reset(new JpegDecompressor());
    return *decompressor;
  }

  void decode(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink) {
    const AbortAtExit abort{&info_};
    source_.next_input_byte = encoded.data;
    source_.bytes_in_buffer = encoded.size;
    require(guarded([this] { jpeg_read_header(&info_, TRUE); }));
    check_size(encoded);
    Orientation orientation;
    if (request.adjust_orientation)
      if (const auto header = read_jpeg_header(encoded)) orientation = header->orientation;
    const CropWindow part =
        choose_stored_region(sink, info_.image_height, info_.image_width, orientation);

    const ColourPlan plan = plan_colours(request.output_type, info_.jpeg_color_space);
    info_.out_color_space = plan.colour_space;
    // The reference decodes turned images by another path, which has the accurate transform only.
    info_.dct_method = request.fast_dct && orientation.is_identity() ? JDCT_IFAST : JDCT_ISLOW;
    require(guarded([this] { jpeg_start_decompress(&info_); }));

    StoredPixels stored;
    stored.channels = plan.stored_channels;
    PixelWriter writer(stored, plan.change, request.dtype, orientation, part.height, part.width);
    writer.set_output(allocate_result(sink, part, orientation, stored.channels));
    const int64_t left = crop_columns(part);
    skip_rows(part.y);
    if (writer.is_copy() && !plan.from_cmyk && info_.output_width == part.width)
      read_directly(part.height, writer.stored_row_bytes(), writer.output());
    else
      read_in_chunks(plan, part, left, writer);
    finish(encoded);
  }

 private:
  struct AbortAtExit {
    jpeg_decompress_struct* info;
    ~AbortAtExit() { jpeg_abort_decompress(info); }
  };

  // Runs `action`; false if libjpeg gave up in it.
  template <typename Action>
  bool guarded(const Action& action) {
    if (setjmp(errors_.target)) return false;
    action();
    return true;
  }

  void require(bool succeeded) const {
    if (succeeded) return;
    throw std::runtime_error("a JPEG file must be sound and complete (got: " +
                             std::string(errors_.message) + "). The file is damaged.");
  }

  void check_size(const EncodedImage& encoded) const {
    check_image_size(info_.image_height, info_.image_width, encoded.size);
    if (info_.arith_code) return;
    // A Huffman code has at least one bit, and each block has at least one code.
    uint64_t blocks = 0;
    for (int i = 0; i < info_.num_components; ++i)
      blocks += uint64_t{info_.comp_info[i].width_in_blocks} * info_.comp_info[i].height_in_blocks;
    if (blocks / 8 > encoded.size)
      throw std::runtime_error("a JPEG file must be long enough for its pixels (got " +
                               std::to_string(info_.image_height) + " x " +
                               std::to_string(info_.image_width) + " pixels in " +
                               std::to_string(encoded.size) + " bytes). The file is damaged.");
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
    if (first == 0 && last == width) return part.x;
    JDIMENSION offset = static_cast<JDIMENSION>(first);
    JDIMENSION count = static_cast<JDIMENSION>(last - first);
    require(guarded([&] { jpeg_crop_scanline(&info_, &offset, &count); }));
    return part.x - offset;
  }

  void skip_rows(int64_t count) {
    if (count > 0)
      require(guarded([&] { jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(count)); }));
  }

  void read_directly(int64_t height, int64_t stride, uint8_t* output) {
    require(guarded([&] {
      JSAMPROW rows[kRowsAtOnce];
      for (int64_t y = 0; y < height;) {
        const int count = static_cast<int>(std::min<int64_t>(kRowsAtOnce, height - y));
        for (int i = 0; i < count; ++i) rows[i] = output + (y + i) * stride;
        y += jpeg_read_scanlines(&info_, rows, static_cast<JDIMENSION>(count));
      }
    }));
  }

  void read_in_chunks(const ColourPlan& plan, const CropWindow& part, int64_t left,
                      const PixelWriter& writer) {
    const int64_t stride = int64_t{info_.output_width} * plan.row_channels;
    if (static_cast<int64_t>(rows_.size()) < stride * kRowsAtOnce)
      rows_.resize(static_cast<size_t>(stride * kRowsAtOnce));
    uint8_t* const first = rows_.data();
    for (int64_t y = 0; y < part.height; y += kRowsAtOnce) {
      const int count = static_cast<int>(std::min<int64_t>(kRowsAtOnce, part.height - y));
      require(guarded([&] {
        JSAMPROW rows[kRowsAtOnce];
        for (int i = 0; i < count; ++i) rows[i] = first + i * stride;
        for (int i = 0; i < count;)
          i += static_cast<int>(
              jpeg_read_scanlines(&info_, rows + i, static_cast<JDIMENSION>(count - i)));
      }));
      uint8_t* const pixels = first + left * plan.row_channels;
      if (plan.from_cmyk) {
        for (int i = 0; i < count; ++i) {
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
    if (has_end_of_jpeg(encoded, encoded.size - source_.bytes_in_buffer)) return;
    // Skipping up to the end is not decoding: the last row must be asked for.
    skip_rows(info_.output_height - info_.output_scanline - 1);
    rows_.resize(std::max(rows_.size(), size_t{info_.output_width} * info_.output_components));
    JSAMPROW row = rows_.data();
    require(guarded([&] { jpeg_read_scanlines(&info_, &row, 1); }));
  }

  static constexpr int64_t kLeastCrop = 64;

  jpeg_decompress_struct info_{};
  ErrorManager errors_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  std::vector<uint8_t> rows_;
};

}  // namespace

bool has_libjpeg() { return true; }

void decode_jpeg(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink) {
  JpegDecompressor::of_this_thread().decode(encoded, request, sink);
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
