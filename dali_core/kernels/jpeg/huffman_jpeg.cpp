#include "dali_core/kernels/jpeg/huffman_jpeg.hpp"

#include <algorithm>
#include <memory>

#include "dali_core/kernels/encoded_image/cmyk.hpp"
#include "dali_core/kernels/encoded_image/orientation.hpp"
#include "dali_core/kernels/encoded_image/pixel_writer.hpp"
#include "dali_core/kernels/jpeg/jpeg_header.hpp"
#include "dali_core/kernels/jpeg/jpeg_planes.hpp"
#include "dali_core/kernels/jpeg/jpeg_rows.hpp"

namespace dali_core {
namespace {

// Rows that are converted at once where they are changed afterwards.
constexpr int64_t kRowsAtOnce = 16;

// How rows of components become rows of pixels, and what is done to these.
struct PixelPlan {
  int num_planes = 3;       // components that are needed
  int row_channels = 3;     // of a row while it is made
  int stored_channels = 3;  // as the writer gets it
  bool reverses = false;    // blue comes first
  PixelChange change = PixelChange::kNone;
};

// False if a library has to do it.
bool plan_pixels(ImageType wanted, JpegColours stored, PixelPlan& plan) {
  plan.reverses = wanted == ImageType::kBGR;
  if (wanted == ImageType::kYCbCr) plan.change = PixelChange::kRgbToYCbCr;
  switch (stored) {
    case JpegColours::kGrey:
    case JpegColours::kYCbCr:
      if (stored == JpegColours::kGrey) plan.num_planes = 1;
      if (wanted == ImageType::kGray ||
          (stored == JpegColours::kGrey && wanted == ImageType::kAnyData))
        plan.num_planes = plan.row_channels = plan.stored_channels = 1;
      return true;
    case JpegColours::kRgb:
      return wanted != ImageType::kGray;
    case JpegColours::kCmyk:
    case JpegColours::kYcck:
      plan.num_planes = plan.row_channels = 4;
      if (wanted == ImageType::kGray) plan.stored_channels = 1;
      if (plan.reverses) plan.change = PixelChange::kSwapRedBlue;
      return true;
  }
  return false;
}

void make_pixels(const HuffmanJpegFile& file, const PixelPlan& plan, const uint8_t* const* rows,
                 int64_t width, uint8_t* out) {
  if (plan.row_channels == 1) {
    std::copy_n(rows[0], width, out);
  } else if (file.colours == JpegColours::kYCbCr) {
    if (plan.reverses)
      ycc_to_bgr_row(rows, width, out);
    else
      ycc_to_rgb_row(rows, width, out);
  } else if (file.colours == JpegColours::kGrey) {
    const uint8_t* const planes[3] = {rows[0], rows[0], rows[0]};
    interleave_row(planes, 3, width, out);
  } else if (file.colours == JpegColours::kRgb) {
    const uint8_t* const planes[3] = {rows[plan.reverses ? 2 : 0], rows[1],
                                      rows[plan.reverses ? 0 : 2]};
    interleave_row(planes, 3, width, out);
  } else {
    if (file.colours == JpegColours::kYcck)
      ycck_to_cmyk_row(rows, width, out);
    else
      interleave_row(rows, 4, width, out);
    cmyk_row_to_rgb(out, width, file.has_adobe);
    if (plan.stored_channels == 1) rgb_row_to_truncated_grey(out, width, out);
  }
}

// What decodes in one thread.
class HuffmanJpegDecoder {
 public:
  static HuffmanJpegDecoder& of_this_thread() {
    // Its tables are too large for the memory that every thread has for the module.
    static thread_local const std::unique_ptr<HuffmanJpegDecoder> decoder(new HuffmanJpegDecoder);
    return *decoder;
  }

  bool decode(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink,
              ScanIndexes* indexes) {
    HuffmanJpegFile file;
    if (!file.read(encoded)) return false;
    const Orientation orientation = orientation_of(encoded, request);
    // The reference decodes turned images by another path, which has the accurate transform only.
    const bool is_fast = request.fast_dct && orientation.is_identity();
    PixelPlan plan;
    if (!plan_pixels(request.output_type, file.colours, plan)) return false;
    JpegPart wanted;
    wanted.num_components = plan.num_planes;
    wanted.is_fast = is_fast;
    if (request.scaled)
      wanted.side = JpegPart::kFullSide / allowed_shrinking(file, orientation, sink);
    wanted.region = choose_stored_region(sink, wanted.size_of(file.height),
                                         wanted.size_of(file.width), orientation);
    const CropWindow& part = wanted.region;
    StoredPixels stored;
    stored.channels = plan.stored_channels;
    PixelWriter writer(stored, plan.change, request.dtype, orientation, part.height, part.width);
    return decode_part(file, encoded, wanted, indexes, [&] {
      writer.set_output(allocate_result(sink, part, orientation, stored.channels));
      return writer.is_copy() && plan.row_channels == plan.stored_channels
                 ? write_rows(file, plan, part, writer.output())
                 : write_changed_rows(file, plan, part, writer);
    });
  }

  bool decode_planes(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink,
                     PlaneSink& planes, ScanIndexes* indexes) {
    HuffmanJpegFile file;
    const bool has_colours = request.output_type != ImageType::kGray &&
                             request.output_type != ImageType::kYCbCr &&
                             request.dtype == DataType::kUInt8;
    if (!has_colours || !file.read(encoded) || file.colours != JpegColours::kYCbCr) return false;
    const Orientation orientation = orientation_of(encoded, request);
    if (!orientation.is_identity()) return false;
    JpegPart wanted;
    wanted.is_fast = request.fast_dct;
    wanted.is_grown = false;
    if (request.scaled)
      wanted.side = JpegPart::kFullSide / allowed_shrinking(file, orientation, sink);
    PlanarImage image;
    image.height = wanted.size_of(file.height);
    image.width = wanted.size_of(file.width);
    image.part = CropWindow{0, 0, image.height, image.width};
    image.reverses = request.output_type == ImageType::kBGR;
    for (int i = 0; i < PlanarImage::kPlanes; ++i)
      image.planes[i] = JpegPlanes::size_of(file, wanted.side, i);
    const std::optional<CropWindow> region = planes.choose_planes(image);
    if (!region) return false;
    wanted.region = *region;
    return decode_part(file, encoded, wanted, indexes, [&] {
      uint8_t* out[PlanarImage::kPlanes];
      planes.allocate_planes(out);
      return write_planes(image, *region, out);
    });
  }

 private:
  struct ReleaseAtExit {
    JpegPlanes& planes;
    ~ReleaseAtExit() { planes.release(); }
  };

  static Orientation orientation_of(const EncodedImage& encoded, const ImageRequest& request) {
    if (request.adjust_orientation)
      if (const auto header = read_jpeg_header(encoded)) return header->orientation;
    return {};
  }

  // Calls `write` once rows can be read; it returns whether it got all.
  template <typename Write>
  bool decode_part(HuffmanJpegFile& file, const EncodedImage& encoded, const JpegPart& part,
                   ScanIndexes* indexes, const Write& write) {
    const ReleaseAtExit release{planes_};
    if (!SequentialScan::has_points(file)) indexes = nullptr;
    ScanIndexes::Key key;
    if (indexes != nullptr) key = indexes->key_of(encoded);
    const auto known = indexes != nullptr ? indexes->find(key) : nullptr;
    const bool notes = indexes != nullptr && !indexes->is_full();
    if (!planes_.open(file, encoded, part, known.get(), notes)) return false;
    if (!write() || !planes_.finish()) return false;
    if (notes && !planes_.noted().empty()) indexes->keep(key, joined(known.get(), planes_.noted()));
    return true;
  }

  static std::shared_ptr<const ScanPoints> joined(const ScanPoints* known,
                                                  const ScanPoints& noted) {
    auto all = std::make_shared<ScanPoints>();
    all->reserve((known == nullptr ? 0 : known->size()) + noted.size());
    if (known != nullptr) *all = *known;
    all->insert(all->end(), noted.begin(), noted.end());
    return all;
  }

  static int allowed_shrinking(const HuffmanJpegFile& file, const Orientation& orientation,
                               ImageSink& sink) {
    return orientation.transpose ? sink.allowed_shrinking(file.width, file.height)
                                 : sink.allowed_shrinking(file.height, file.width);
  }

  bool write_rows(const HuffmanJpegFile& file, const PixelPlan& plan, const CropWindow& part,
                  uint8_t* out) {
    const uint8_t* rows[HuffmanJpegFile::kMaxComponents];
    for (int64_t y = 0; y < part.height; ++y, out += part.width * plan.row_channels) {
      if (!planes_.row(y, rows)) return false;
      make_pixels(file, plan, rows, part.width, out);
    }
    return true;
  }

  bool write_changed_rows(const HuffmanJpegFile& file, const PixelPlan& plan,
                          const CropWindow& part, const PixelWriter& writer) {
    const uint8_t* rows[HuffmanJpegFile::kMaxComponents];
    const int64_t stride = part.width * plan.row_channels;
    uint8_t* const first = rows_.at_least(static_cast<size_t>(stride * kRowsAtOnce));
    for (int64_t y = 0; y < part.height; y += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, part.height - y);
      for (int64_t i = 0; i < count; ++i) {
        if (!planes_.row(y + i, rows)) return false;
        make_pixels(file, plan, rows, part.width, first + i * stride);
      }
      writer.write(first, stride, y, count);
    }
    return true;
  }

  bool write_planes(const PlanarImage& image, const CropWindow& region, uint8_t** out) {
    const uint8_t* rows[HuffmanJpegFile::kMaxComponents];
    for (int64_t y = region.y; y < region.y + region.height; ++y) {
      if (!planes_.row(y - region.y, rows)) return false;
      for (int i = 0; i < PlanarImage::kPlanes; ++i) {
        const PlaneSize& size = image.planes[i];
        if (y != region.y && y % size.taller != 0) continue;
        const int64_t count = covering(region.x, region.width, size.wider).count;
        out[i] = std::copy_n(rows[i], count, out[i]);
      }
    }
    return true;
  }

  JpegPlanes planes_;
  GrowingMemory<uint8_t> rows_;
};

}  // namespace

bool decode_huffman_jpeg(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink,
                         ScanIndexes* indexes) {
  return HuffmanJpegDecoder::of_this_thread().decode(encoded, request, sink, indexes);
}

bool decode_huffman_jpeg_planes(const EncodedImage& encoded, const ImageRequest& request,
                                ImageSink& sink, PlaneSink& planes, ScanIndexes* indexes) {
  return HuffmanJpegDecoder::of_this_thread().decode_planes(encoded, request, sink, planes,
                                                            indexes);
}

}  // namespace dali_core
