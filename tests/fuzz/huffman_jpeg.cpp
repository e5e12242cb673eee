// Decoding of JPEG by our own code against libjpeg-turbo, if it is installed: supported files must
// have the library's pixels, whole and in part, at full size and at smaller ones. Unsupported files
// are not tested here. Planes of luma and chroma, which the library does not give, are resampled.
#include "dali_core/kernels/jpeg/huffman_jpeg.hpp"

#include <optional>

#include "dali_core/kernels/jpeg/jpeg_header.hpp"
#include "dali_core/kernels/jpeg/resampled_planes.hpp"
#include "dali_core/native_io/libjpeg/jpeg_decoder.hpp"
#include "tests/fuzz/jpeg_sink.hpp"

using namespace dali_core;

namespace {

bool is_ours(const EncodedImage& encoded, const ImageRequest& request, KeepingSink& sink,
             ScanIndexes* indexes = nullptr) {
  try {
    return decode_huffman_jpeg(encoded, request, sink, indexes);
  } catch (const TooLarge&) {
    return false;
  }
}

// Takes planes, and makes an image of a few pixels of them.
class ResamplingSink : public KeepingSink, public PlaneSink {
 public:
  using KeepingSink::KeepingSink;

  std::optional<CropWindow> choose_planes(const PlanarImage& image) override {
    PlanarImage cut = image;
    cut.part = choose_region(image.height, image.width);
    AxisGeometry rows(cut.part.height), columns(cut.part.width);
    rows.resample({cut.part.height, kSide, ResampleFilter::kTriangular});
    columns.resample({cut.part.width, kSide, ResampleFilter::kCubic});
    planes_.emplace(cut, rows, columns);
    return planes_->region();
  }

  void allocate_planes(uint8_t** planes) override {
    samples_.assign(planes_->plane_bytes(), 0);
    samples_.shrink_to_fit();
    scratch_.resize(planes_->scratch_bytes() / sizeof(Line));
    planes_->bind(samples_.data(), scratch_.data()->bytes);
    for (int i = 0; i < PlanarImage::kPlanes; ++i) planes[i] = planes_->samples(i);
  }

  void resample() {
    pixels.assign(static_cast<size_t>(kSide * kSide * PlanarImage::kPlanes), 0);
    void* rows[kSide];
    for (int64_t y = 0; y < kSide; ++y) rows[y] = &pixels[static_cast<size_t>(y * kSide * 3)];
    planes_->make_rows(0, kSide, rows);
  }

 private:
  static constexpr int64_t kSide = 7;

  struct alignas(64) Line {
    char bytes[64];
  };

  std::vector<Line> scratch_;
  std::optional<ResampledPlanes> planes_;
  std::vector<uint8_t> samples_;
};

// The same with points inside of the scan as without.
void check_planes(const EncodedImage& encoded, const ImageRequest& request, int64_t element_size,
                  Settings chosen) {
  ScanIndexes indexes(1 << 20);
  std::vector<uint8_t> expected;
  for (int turn = 0; turn < 3; ++turn) {
    ResamplingSink sink(element_size, true, chosen);
    bool is_decoded = false;
    try {
      is_decoded =
          decode_huffman_jpeg_planes(encoded, request, sink, sink, turn == 0 ? nullptr : &indexes);
    } catch (const TooLarge&) {
    }
    if (is_decoded) sink.resample();
    if (turn == 0) expected = sink.pixels;
    FUZZ_CHECK(sink.pixels == expected);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Settings settings(data, size);
  const ImageRequest request = draw_request(settings);
  Settings chosen = settings;
  for (int i = 0; i < kSinkSettings; ++i) settings.byte();

  const ExactCopy copy(settings.rest(), settings.rest_size());
  const EncodedImage encoded{copy.data(), settings.rest_size()};
  // The format of a file is known before its decoder is chosen.
  if (!looks_like_jpeg(encoded)) return 0;
  const int64_t element_size = size_of(request.dtype);
  KeepingSink whole(element_size, false, chosen), part(element_size, true, chosen);
  const bool whole_is_ours = is_ours(encoded, request, whole);
  const bool part_is_ours = is_ours(encoded, request, part);
  if (whole_is_ours && part_is_ours) check_part(part, whole);
  ScanIndexes indexes(1 << 20);
  for (const bool is_part : {true, false, true}) {
    const KeepingSink& expected = is_part ? part : whole;
    KeepingSink again(element_size, is_part, chosen);
    const bool is_decoded = is_ours(encoded, request, again, &indexes);
    FUZZ_CHECK(is_decoded == (is_part ? part_is_ours : whole_is_ours));
    FUZZ_CHECK(!is_decoded || again.pixels == expected.pixels);
  }
  check_planes(encoded, request, element_size, chosen);
  if (!has_libjpeg()) return 0;
  if (whole_is_ours) {
    KeepingSink expected(element_size, false, chosen);
    decode_jpeg(encoded, request, expected);
    FUZZ_CHECK(expected.channels == whole.channels && expected.pixels == whole.pixels);
  }
  if (part_is_ours) {
    KeepingSink expected(element_size, true, chosen);
    decode_jpeg(encoded, request, expected);
    FUZZ_CHECK(expected.channels == part.channels && expected.pixels == part.pixels);
  }
  return 0;
}
