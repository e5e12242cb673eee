// Decoding of JPEG, in any colours and types, whole and a part: a part must be what is cut out of
// the whole, and no scan may escape those who count them. Without libjpeg-turbo there is nothing to
// test here.
#include <stdexcept>

#include "dali_core/operators/decoders/jpeg_cost.hpp"
#include "dali_core/operators/decoders/jpeg_decoder.hpp"
#if DALI_CORE_HAVE_LIBJPEG
#include "dali_core/operators/decoders/libjpeg_session.hpp"
#endif
#include "tests/fuzz/target.hpp"

using namespace dali_core;

namespace {

constexpr int64_t kMostPixels = 1 << 18;  // larger images would only cost time

struct TooLarge : std::runtime_error {
  TooLarge() : std::runtime_error("too large") {}
};

class Sink : public ImageSink {
 public:
  Sink(int64_t element_size, bool is_part, Settings settings)
      : element_size_(element_size), is_part_(is_part), settings_(settings) {}

  CropWindow choose_region(int64_t height, int64_t width) override {
    if (height * width > kMostPixels) throw TooLarge();
    shown_height = height;
    shown_width = width;
    region = CropWindow{0, 0, height, width};
    if (is_part_) {
      region.y = settings_.byte() * height / 256;
      region.x = settings_.byte() * width / 256;
      region.height = 1 + settings_.byte() * (height - region.y - 1) / 255;
      region.width = 1 + settings_.byte() * (width - region.x - 1) / 255;
    }
    return region;
  }

  void* allocate(int64_t height, int64_t width, int num_channels) override {
    FUZZ_CHECK(height == region.height && width == region.width);
    channels = num_channels;
    pixels.assign(static_cast<size_t>(height * width * channels * element_size_), 0);
    pixels.shrink_to_fit();
    return pixels.data();
  }

  int64_t pixel_bytes() const { return channels * element_size_; }

  CropWindow region{};
  int64_t shown_height = 0, shown_width = 0;
  int channels = 0;
  std::vector<uint8_t> pixels;

 private:
  int64_t element_size_;
  bool is_part_;
  Settings settings_;
};

bool decodes(const EncodedImage& encoded, const ImageRequest& request, Sink& sink) {
  try {
    decode_jpeg(encoded, request, sink);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

// How many scans libjpeg reads of a file whose header it accepts.
int64_t scans_of_libjpeg(const EncodedImage& encoded) {
  int64_t scans = 0;
#if DALI_CORE_HAVE_LIBJPEG
  LibjpegSession session;
  session.open(encoded);
  jpeg_decompress_struct& info = session.info();
  try {
    session.call([&] { jpeg_read_header(&info, TRUE); });
    scans = info.input_scan_number;
    if (int64_t{info.image_height} * info.image_width <= kMostPixels)
      session.call([&] { jpeg_start_decompress(&info); });
  } catch (const std::runtime_error&) {
    // What it has begun counts.
  }
  if (scans > 0) scans = info.input_scan_number;
  session.close();
#endif
  return scans;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr DataType kTypes[] = {DataType::kUInt8,   DataType::kInt8,   DataType::kUInt16,
                                 DataType::kInt16,   DataType::kUInt32, DataType::kInt32,
                                 DataType::kFloat16, DataType::kFloat};
  Settings settings(data, size);
  ImageRequest request;
  request.output_type = static_cast<ImageType>(settings.below(5));
  request.dtype = kTypes[settings.below(8)];
  request.adjust_orientation = settings.flag();
  request.fast_dct = settings.flag();
  Settings region = settings;
  for (int i = 0; i < 4; ++i) settings.byte();

  const ExactCopy copy(settings.rest(), settings.rest_size());
  const EncodedImage encoded{copy.data(), settings.rest_size()};
  const JpegCost cost = jpeg_cost(encoded);
  FUZZ_CHECK(cost.scans > 500 || cost.visits > cost.most_visits ||
             scans_of_libjpeg(encoded) <= cost.scans);
  const int64_t element_size = size_of(request.dtype);
  Sink whole(element_size, false, region), part(element_size, true, region);
  const bool is_sound = decodes(encoded, request, whole);
  if (!decodes(encoded, request, part) || !is_sound) return 0;
  FUZZ_CHECK(part.shown_height == whole.shown_height && part.shown_width == whole.shown_width);
  FUZZ_CHECK(part.channels == whole.channels);
  const int64_t pixel = whole.pixel_bytes();
  const size_t row = static_cast<size_t>(part.region.width * pixel);
  for (int64_t y = 0; y < part.region.height; ++y) {
    const int64_t first = (part.region.y + y) * whole.shown_width + part.region.x;
    FUZZ_CHECK(std::memcmp(part.pixels.data() + static_cast<size_t>(y) * row,
                           whole.pixels.data() + first * pixel, row) == 0);
  }
  return 0;
}
