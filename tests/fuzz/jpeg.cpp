// Decoding of JPEG, in any colours, types and sizes, whole and a part: a part must equal a crop of
// the whole, and the counts of scans must agree. Requires libjpeg-turbo.
#include "dali_core/kernels/jpeg/jpeg_cost.hpp"
#include "dali_core/native_io/libjpeg/jpeg_decoder.hpp"
#if DALI_CORE_HAVE_LIBJPEG
#include "dali_core/native_io/libjpeg/libjpeg_session.hpp"
#endif
#include "tests/fuzz/jpeg_sink.hpp"

using namespace dali_core;

namespace {

bool decodes(const EncodedImage& encoded, const ImageRequest& request, KeepingSink& sink) {
  try {
    decode_jpeg(encoded, request, sink);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

// The number of scans that libjpeg reads of a file whose header it accepts.
int64_t scans_of_libjpeg(const EncodedImage& encoded) {
  int64_t scans = 0;
#if DALI_CORE_HAVE_LIBJPEG
  LibjpegSession session;
  session.open(encoded);
  jpeg_decompress_struct& info = session.info();
  try {
    session.call([&] { jpeg_read_header(&info, TRUE); });
    scans = info.input_scan_number;
    if (int64_t{info.image_height} * info.image_width <= kMaxFuzzedPixels)
      session.call([&] { jpeg_start_decompress(&info); });
  } catch (const std::runtime_error&) {
    // Scans that it has started count.
  }
  if (scans > 0) scans = info.input_scan_number;
  session.close();
#endif
  return scans;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Settings settings(data, size);
  const ImageRequest request = draw_request(settings);
  Settings chosen = settings;
  for (int i = 0; i < kSinkSettings; ++i) settings.byte();

  const ExactCopy copy(settings.rest(), settings.rest_size());
  const EncodedImage encoded{copy.data(), settings.rest_size()};
  const JpegCost cost = jpeg_cost(encoded);
  FUZZ_CHECK(cost.scans > 500 || cost.visits > cost.most_visits ||
             scans_of_libjpeg(encoded) <= cost.scans);
  const int64_t element_size = size_of(request.dtype);
  KeepingSink whole(element_size, false, chosen), part(element_size, true, chosen);
  const bool is_sound = decodes(encoded, request, whole);
  if (decodes(encoded, request, part) && is_sound) check_part(part, whole);
  return 0;
}
