// The header of an .npy file, and the elements behind it.
#include <stdexcept>
#include <vector>

#include "dali_core/native_io/npy/npy_window.hpp"
#include "tests/fuzz/target.hpp"

using namespace dali_core;

namespace {

// Of arrays that are read: a file of a few bytes may have empty ones of any extent.
constexpr int64_t kMostRead = 1 << 20;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ExactCopy copy(data, size);
  const auto bytes = static_cast<int64_t>(size);
  NpyHeader header;
  try {
    header = parse_npy_header(copy.data(), bytes, bytes);
  } catch (const std::runtime_error&) {
    return 0;  // the expected error
  }
  const int64_t of_array = header.shape.num_elements() * size_of(header.type);
  FUZZ_CHECK(header.data_offset >= kNpyPrefix && header.data_offset + of_array <= bytes);
  if (of_array > kMostRead) return 0;
  Window window(header.shape);
  std::vector<char> copied(static_cast<size_t>(of_array)), read(copied.size());
  NpyWindow(header, window).copy(copy.data() + header.data_offset, copied.data());
  NpyWindow(header, window)
      .read(
          [&](int64_t position, char* target, int64_t count) {
            FUZZ_CHECK(position >= 0 && count >= 0 && position + count <= of_array);
            std::memcpy(target, copy.data() + header.data_offset + position,
                        static_cast<size_t>(count));
          },
          read.data());
  FUZZ_CHECK(copied == read);
  // A part that ends where the array does.
  for (int i = 0; i < header.shape.ndim; ++i) {
    window.start[i] = header.shape[i] / 3;
    window.extent[i] = header.shape[i] - window.start[i];
  }
  NpyWindow(header, window).copy(copy.data() + header.data_offset, copied.data());
  return 0;
}
