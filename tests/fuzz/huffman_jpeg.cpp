// Decoding of JPEG by our own code against libjpeg-turbo, if it is installed: supported files must
// have the library's pixels, whole and in part. Unsupported files are not tested here.
#include "dali_core/kernels/jpeg/huffman_jpeg.hpp"

#include "dali_core/kernels/jpeg/jpeg_decoder.hpp"
#include "dali_core/kernels/jpeg/jpeg_header.hpp"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Settings settings(data, size);
  const ImageRequest request = draw_request(settings);
  Settings region = settings;
  for (int i = 0; i < 4; ++i) settings.byte();

  const ExactCopy copy(settings.rest(), settings.rest_size());
  const EncodedImage encoded{copy.data(), settings.rest_size()};
  // The format of a file is known before its decoder is chosen.
  if (!looks_like_jpeg(encoded)) return 0;
  const int64_t element_size = size_of(request.dtype);
  KeepingSink whole(element_size, false, region), part(element_size, true, region);
  const bool whole_is_ours = is_ours(encoded, request, whole);
  const bool part_is_ours = is_ours(encoded, request, part);
  if (whole_is_ours && part_is_ours) check_part(part, whole);
  ScanIndexes indexes(1 << 20);
  for (const bool is_part : {true, false, true}) {
    const KeepingSink& expected = is_part ? part : whole;
    KeepingSink again(element_size, is_part, region);
    const bool is_decoded = is_ours(encoded, request, again, &indexes);
    FUZZ_CHECK(is_decoded == (is_part ? part_is_ours : whole_is_ours));
    FUZZ_CHECK(!is_decoded || again.pixels == expected.pixels);
  }
  if (!has_libjpeg()) return 0;
  if (whole_is_ours) {
    KeepingSink expected(element_size, false, region);
    decode_jpeg(encoded, request, expected);
    FUZZ_CHECK(expected.channels == whole.channels && expected.pixels == whole.pixels);
  }
  if (part_is_ours) {
    KeepingSink expected(element_size, true, region);
    decode_jpeg(encoded, request, expected);
    FUZZ_CHECK(expected.channels == part.channels && expected.pixels == part.pixels);
  }
  return 0;
}
