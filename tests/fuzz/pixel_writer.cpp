// Writing of stored rows in any type, colour model and orientation: every output pixel is written
// once, and nothing out of bounds.
#include "dali_core/kernels/encoded_image/pixel_writer.hpp"
#include "tests/fuzz/target.hpp"

using namespace dali_core;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr DataType kStored[] = {DataType::kUInt8, DataType::kInt8,   DataType::kUInt16,
                                  DataType::kInt16, DataType::kUInt32, DataType::kInt32,
                                  DataType::kFloat};
  constexpr DataType kResults[] = {DataType::kUInt8,   DataType::kInt8,   DataType::kUInt16,
                                   DataType::kInt16,   DataType::kUInt32, DataType::kInt32,
                                   DataType::kFloat16, DataType::kFloat};
  constexpr float kRanges[] = {255.0f,        127.0f,        65535.0f, 32767.0f,
                               4294967295.0f, 2147483647.0f, 1.0f};
  Settings settings(data, size);
  StoredPixels stored;
  const int type = settings.below(7);
  stored.sample_type = kStored[type];
  stored.range = kRanges[type];
  const auto change = static_cast<PixelChange>(settings.below(3));
  stored.channels = change == PixelChange::kNone ? 1 + settings.below(5) : 3;
  const DataType dtype = kResults[settings.below(8)];
  const Orientation orientation = Orientation::from_exif(1 + settings.below(8));
  const int64_t height = 1 + settings.below(40), width = 1 + settings.below(40);

  PixelWriter writer(stored, change, dtype, orientation, height, width);
  const int64_t row = writer.stored_row_bytes();
  FUZZ_CHECK(row == width * stored.channels * size_of(stored.sample_type));
  std::vector<uint8_t> rows(static_cast<size_t>(row * height));
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = settings.rest_size() ? settings.rest()[i % settings.rest_size()] : uint8_t(i);
  const size_t bytes = static_cast<size_t>(height * width * stored.channels * size_of(dtype));
  // In chunks and at once: the same, and every byte is overwritten.
  std::vector<uint8_t> at_once(bytes, 0x00), in_chunks(bytes, 0xFF);
  writer.set_output(at_once.data());
  writer.write(rows.data(), row, 0, height);
  writer.set_output(in_chunks.data());
  const int64_t chunk = 1 + settings.below(16);
  for (int64_t y = 0; y < height; y += chunk)
    writer.write(rows.data() + y * row, row, y, std::min(chunk, height - y));
  FUZZ_CHECK(at_once == in_chunks);
  return 0;
}
