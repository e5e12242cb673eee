// The conversion of planes as a function for Python, and its tests by a plain formula.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "dali_core/kernels/video/convert_planes.hpp"

namespace dali_core {

// In the library, it is defined for fn.flip.
void mirror_row(const void* from, void* to, int64_t num_pixels, int64_t pixel_bytes) {
  for (int64_t i = 0; i < num_pixels; ++i)
    std::memcpy(static_cast<char*>(to) + i * pixel_bytes,
                static_cast<const char*>(from) + (num_pixels - 1 - i) * pixel_bytes,
                static_cast<size_t>(pixel_bytes));
}

namespace {

int64_t shifted(int64_t size, int shift) { return ((size - 1) >> shift) + 1; }

// Planes of random values, each in memory of exactly its size.
struct RandomFrame {
  FramePlanes planes;
  std::vector<std::vector<uint8_t>> memory;

  RandomFrame(std::mt19937& random, int width, int height, int num_planes, int shift_x, int shift_y,
              int bits) {
    planes.width = width;
    planes.height = height;
    planes.num_planes = num_planes;
    planes.chroma_shift_x = shift_x;
    planes.chroma_shift_y = shift_y;
    planes.bits = bits;
    const int bytes = bits > 8 ? 2 : 1;
    for (int i = 0; i < num_planes; ++i) {
      const int64_t columns = i ? shifted(width, shift_x) : width;
      const int64_t rows = i ? shifted(height, shift_y) : height;
      memory.emplace_back(static_cast<size_t>(columns * rows * bytes));
      for (int64_t k = 0; k < columns * rows; ++k) {
        const auto value = static_cast<uint16_t>(random() % (1u << bits));
        if (bytes == 2)
          std::memcpy(memory[i].data() + 2 * k, &value, 2);
        else
          memory[i][k] = static_cast<uint8_t>(value);
      }
      planes.data[i] = memory[i].data();
      planes.stride[i] = columns * bytes;
    }
  }

  double at(int plane, int64_t y, int64_t x) const {
    const int64_t columns = plane ? shifted(planes.width, planes.chroma_shift_x) : planes.width;
    const int64_t rows = plane ? shifted(planes.height, planes.chroma_shift_y) : planes.height;
    y = std::min(std::max<int64_t>(y, 0), rows - 1);
    x = std::min(std::max<int64_t>(x, 0), columns - 1);
    const uint8_t* const row = planes.data[plane] + y * planes.stride[plane];
    if (planes.bits == 8) return row[x];
    uint16_t value;
    std::memcpy(&value, row + 2 * x, 2);
    return value;
  }

  // A plane at a pixel of the frame, interpolated between the centres of its samples, which are
  // spread evenly over the frame.
  double interpolated(int plane, int64_t y, int64_t x) const {
    const double v = place(y, planes.height, planes.chroma_shift_y);
    const double u = place(x, planes.width, planes.chroma_shift_x);
    const auto top = static_cast<int64_t>(std::floor(v));
    const auto left = static_cast<int64_t>(std::floor(u));
    const double b = v - static_cast<double>(top), a = u - static_cast<double>(left);
    return (1 - b) * ((1 - a) * at(plane, top, left) + a * at(plane, top, left + 1)) +
           b * ((1 - a) * at(plane, top + 1, left) + a * at(plane, top + 1, left + 1));
  }

  // FFmpeg's distance of two pixels has 16 binary digits.
  static double place(int64_t pixel, int64_t size, int shift) {
    const double share = static_cast<double>(shifted(size, shift)) / static_cast<double>(size);
    return (static_cast<double>(pixel) + 0.5) * std::round(share * 65536) / 65536 - 0.5;
  }
};

// Red, green and blue of a pixel by ITU-R BT.601.
void expected_rgb(const RandomFrame& frame, int64_t y, int64_t x, double (&rgb)[3]) {
  const FramePlanes& planes = frame.planes;
  const double step = 1 << (planes.bits - 8), most = (1 << planes.bits) - 1;
  const double luma =
      planes.full_range ? frame.at(0, y, x) / most : (frame.at(0, y, x) - 16 * step) / (219 * step);
  double chroma[2] = {0, 0};
  for (int i = 1; i < planes.num_planes; ++i)
    chroma[i - 1] =
        (frame.interpolated(i, y, x) - 128 * step) / (planes.full_range ? most : 224 * step);
  rgb[0] = 255 * (luma + 1.402 * chroma[1]);
  rgb[1] = 255 * (luma - 0.114 * 1.772 / 0.587 * chroma[0] - 0.299 * 1.402 / 0.587 * chroma[1]);
  rgb[2] = 255 * (luma + 1.772 * chroma[0]);
}

bool is_rounded(double exact, uint8_t value) {
  const double within = std::min(std::max(exact, 0.0), 255.0);
  return std::fabs(within - value) <= 0.5 + 1e-3;
}

std::vector<uint8_t> read_whole(const FrameConverter& converter) {
  std::vector<uint8_t> pixels(
      static_cast<size_t>(converter.height() * converter.width() * converter.channels()));
  converter.read({0, 0, converter.height(), converter.width()}, pixels.data(),
                 converter.width() * converter.channels());
  return pixels;
}

template <typename Function>
void for_each_kind(Function&& function) {
  std::mt19937 random(12);
  for (int size = 1; size <= 70; ++size)
    for (const int bits : {8, 10, 12})
      for (const auto& shifts :
           {std::pair<int, int>{1, 1}, {1, 0}, {0, 0}, {0, 1}, {2, 0}, {2, 2}}) {
        if (shifts.first == 2 && bits > (shifts.second == 2 ? 8 : 10)) continue;
        const int other = static_cast<int>(random() % 70) + 1;
        RandomFrame frame(random, size, other, size % 7 ? 3 : 1, shifts.first, shifts.second, bits);
        frame.planes.full_range = (size + bits / 2) % 2 == 0;
        function(frame, random);
      }
}

TEST(every_kind_of_planes_is_the_plain_formula_rounded) {
  int wrong = 0;
  for_each_kind([&](RandomFrame& frame, std::mt19937&) {
    const auto pixels =
        read_whole(FrameConverter(frame.planes, ImageType::kRGB, VideoMatrix::kBT601));
    for (int64_t y = 0; y < frame.planes.height; ++y)
      for (int64_t x = 0; x < frame.planes.width; ++x) {
        double rgb[3];
        expected_rgb(frame, y, x, rgb);
        for (int c = 0; c < 3; ++c)
          wrong += !is_rounded(rgb[c], pixels[(y * frame.planes.width + x) * 3 + c]);
      }
  });
  CHECK_EQUAL(wrong, 0);
}

TEST(parts_have_the_pixels_of_the_whole) {
  int wrong = 0;
  for_each_kind([&](RandomFrame& frame, std::mt19937& random) {
    frame.planes.orientation = static_cast<int>(random() % 8) + 1;
    const auto type = static_cast<ImageType>(random() % 4);
    const FrameConverter converter(frame.planes, type, VideoMatrix::kBT601);
    const auto whole = read_whole(converter);
    CropWindow part;
    part.y = static_cast<int64_t>(random()) % converter.height();
    part.x = static_cast<int64_t>(random()) % converter.width();
    part.height = static_cast<int64_t>(random()) % (converter.height() - part.y) + 1;
    part.width = static_cast<int64_t>(random()) % (converter.width() - part.x) + 1;
    const int64_t row_bytes = part.width * converter.channels();
    std::vector<uint8_t> pixels(static_cast<size_t>(part.height * row_bytes));
    converter.read(part, pixels.data(), row_bytes);
    for (int64_t y = 0; y < part.height; ++y)
      wrong += std::memcmp(pixels.data() + y * row_bytes,
                           whole.data() +
                               ((part.y + y) * converter.width() + part.x) * converter.channels(),
                           static_cast<size_t>(row_bytes)) != 0;
  });
  CHECK_EQUAL(wrong, 0);
}

TEST(frames_are_turned_and_mirrored_as_exif_says) {
  int wrong = 0;
  for_each_kind([&](RandomFrame& frame, std::mt19937&) {
    const auto stored =
        read_whole(FrameConverter(frame.planes, ImageType::kRGB, VideoMatrix::kBT601));
    const int64_t height = frame.planes.height, width = frame.planes.width;
    for (int orientation = 1; orientation <= 8; ++orientation) {
      frame.planes.orientation = orientation;
      const FrameConverter converter(frame.planes, ImageType::kRGB, VideoMatrix::kBT601);
      CHECK_EQUAL(converter.height(), orientation < 5 ? height : width);
      const auto upright = read_whole(converter);
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x) {
          // Where the first row and the first column of the stored frame are shown (Exif 2.32,
          // 4.6.4): on the right and at the bottom for one half each.
          const bool is_transposed = orientation >= 5;
          const int64_t down = (0b11001100 >> (orientation - 1) & 1) ? height - 1 - y : y;
          const int64_t along = (0b01100110 >> (orientation - 1) & 1) ? width - 1 - x : x;
          const int64_t right = (0b01100000 >> (orientation - 1) & 1) ? height - 1 - y : y;
          const int64_t bottom = (0b11000000 >> (orientation - 1) & 1) ? width - 1 - x : x;
          const int64_t to = is_transposed ? bottom * height + right : down * width + along;
          wrong +=
              std::memcmp(upright.data() + 3 * to, stored.data() + 3 * (y * width + x), 3) != 0;
        }
    }
  });
  CHECK_EQUAL(wrong, 0);
}

TEST(wide_frames_are_converted_in_chunks) {
  std::mt19937 random(3);
  RandomFrame frame(random, 2501, 3, 3, 1, 1, 8);
  const auto pixels =
      read_whole(FrameConverter(frame.planes, ImageType::kRGB, VideoMatrix::kBT601));
  int wrong = 0;
  for (int64_t x = 0; x < 2501; ++x) {
    double rgb[3];
    expected_rgb(frame, 1, x, rgb);
    for (int c = 0; c < 3; ++c) wrong += !is_rounded(rgb[c], pixels[(2501 + x) * 3 + c]);
  }
  CHECK_EQUAL(wrong, 0);
  for (const int orientation : {6, 3}) {
    frame.planes.orientation = orientation;
    const auto turned =
        read_whole(FrameConverter(frame.planes, ImageType::kRGB, VideoMatrix::kBT601));
    const int64_t to = orientation == 6 ? 1700 * 3 + 2 : 2 * 2501 + 2501 - 1 - 1700;
    CHECK_EQUAL(std::memcmp(turned.data() + 3 * to, pixels.data() + 3 * 1700, 3), 0);
  }
}

TEST(planes_that_are_no_image_are_refused) {
  std::mt19937 random(4);
  const RandomFrame good(random, 8, 8, 3, 1, 1, 8);
  const auto convert = [](const FramePlanes& planes, VideoMatrix matrix = VideoMatrix::kBT601) {
    FrameConverter(planes, ImageType::kRGB, matrix);
  };
  const auto changed = [&](auto&& change) {
    FramePlanes planes = good.planes;
    change(planes);
    return planes;
  };
  convert(good.planes);
  using Planes = FramePlanes;
  CHECK_THROWS(convert(changed([](Planes& p) { p.width = 0; })), std::runtime_error);
  CHECK_THROWS(convert(changed([](Planes& p) { p.height = -1; })), std::runtime_error);
  CHECK_THROWS(convert(changed([](Planes& p) { p.num_planes = 2; })), std::runtime_error);
  CHECK_THROWS(convert(changed([](Planes& p) { p.bits = 7; })), std::runtime_error);
  CHECK_THROWS(convert(changed([](Planes& p) { p.bits = 14; })), std::runtime_error);
  CHECK_THROWS(convert(changed([](Planes& p) { p.orientation = 9; })), std::runtime_error);
  CHECK_THROWS(convert(changed([](Planes& p) { p.chroma_shift_x = 3; })), std::runtime_error);
  CHECK_THROWS(convert(changed([](Planes& p) { p.data[2] = nullptr; })), std::runtime_error);
  CHECK_THROWS(convert(changed([](Planes& p) { p.matrix = 13; }), VideoMatrix::kAuto),
               std::runtime_error);
  CHECK_THROWS(video_matrix("rec709"), std::invalid_argument);
}

}  // namespace
}  // namespace dali_core

// For Python, which has another plain formula. Returns the upright height, or -1.
extern "C" int convert_planes(const dali_core::FramePlanes* planes, int type, const char* matrix,
                              uint8_t* out) {
  using namespace dali_core;
  try {
    const FrameConverter converter(*planes, static_cast<ImageType>(type), video_matrix(matrix));
    converter.read({0, 0, converter.height(), converter.width()}, out,
                   converter.width() * converter.channels());
    return static_cast<int>(converter.height());
  } catch (const std::exception&) {
    return -1;
  }
}
