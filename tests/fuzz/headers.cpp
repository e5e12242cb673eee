// Everything that our own code parses before a codec: format, JPEG header with its orientation,
// scans and end of a JPEG, structure of a PNG.
#include <stdexcept>

#include "dali_core/kernels/encoded_image/orientation.hpp"
#include "dali_core/kernels/jpeg/jpeg_cost.hpp"
#include "dali_core/kernels/jpeg/jpeg_header.hpp"
#include "dali_core/native_io/image_decoding/image_format.hpp"
#include "dali_core/native_io/image_decoding/png_check.hpp"
#include "dali_core/native_io/image_decoding/stored_orientation.hpp"
#include "tests/fuzz/target.hpp"

using namespace dali_core;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ExactCopy copy(data, size);
  const EncodedImage encoded{copy.data(), size};
  const ImageFormat format = format_of(encoded);
  FUZZ_CHECK(looks_like_jpeg(encoded) == (format == ImageFormat::kJpeg));
  FUZZ_CHECK(looks_like_png(encoded) == (format == ImageFormat::kPng));
  stored_orientation(encoded, Orientation{});
  if (format == ImageFormat::kJpeg) {
    if (const auto header = read_jpeg_header(encoded)) {
      FUZZ_CHECK(header->size <= size);
      FUZZ_CHECK(header->frame.height >= 0 && header->frame.height <= 65535);
      FUZZ_CHECK(header->frame.width >= 0 && header->frame.width <= 65535);
      has_end_of_jpeg(encoded, header->size);
      // Rotating a region and back is the identity.
      Orientation back = header->orientation;
      if (back.transpose) std::swap(back.flip_x, back.flip_y);
      const CropWindow region{1, 2, 3, 4};
      const CropWindow stored = to_stored_region(region, 50, 60, header->orientation);
      FUZZ_CHECK(stored.height * stored.width == region.height * region.width);
      FUZZ_CHECK(stored.y >= 0 && stored.x >= 0);
      FUZZ_CHECK(stored.y + stored.height <= 50 && stored.x + stored.width <= 60);
    }
    has_end_of_jpeg(encoded, size);
    const JpegCost cost = jpeg_cost(encoded);
    FUZZ_CHECK(cost.scans >= 0 && cost.blocks >= 0 && cost.visits >= 0 && cost.most_visits >= 0);
  }
  if (format == ImageFormat::kPng) {
    try {
      check_png(encoded);
    } catch (const std::runtime_error&) {
      // The expected error.
    }
  }
  return 0;
}
