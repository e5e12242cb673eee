#include "dali_core/kernels/debayer/debayer.hpp"

#include <algorithm>
#include <cstdlib>

namespace dali_core {
namespace {

constexpr int64_t kLeastForGradients = 8;

// Weights of red, green and blue in a grey value, times 2^14 (ITU-R BT.601).
constexpr int64_t kRed = 4899, kGreen = 9617, kBlue = 1868;

// A pixel and its neighbours, as sums: those beside it, above and below, and at the corners.
struct Neighbourhood {
  int64_t centre, left, right, above, below, corners;

  int64_t row() const { return left + right; }
  int64_t column() const { return above + below; }
  int64_t cross() const { return row() + column(); }
};

template <typename T>
Neighbourhood neighbourhood(const T* at, int64_t width) {
  const T* const up = at - width;
  const T* const down = at + width;
  return {at[0], at[-1], at[1], up[0], down[0], int64_t{up[-1]} + up[1] + down[-1] + down[1]};
}

int64_t green_of(const Neighbourhood& near, DebayerAlgorithm algorithm) {
  if (algorithm != DebayerAlgorithm::kEdgeAware) return (near.cross() + 2) >> 2;
  // Along an edge, not across it.
  const bool is_row_steeper = std::abs(near.left - near.right) > std::abs(near.above - near.below);
  return ((is_row_steeper ? near.column() : near.row()) + 1) >> 1;
}

// Colours in the order of this row: that of its own pixels, green, and that of the other rows.
template <typename T>
void colour_pixel(const Neighbourhood& near, bool is_green, DebayerAlgorithm algorithm, T& own,
                  T& green, T& other) {
  own = static_cast<T>(is_green ? (near.row() + 1) >> 1 : near.centre);
  green = static_cast<T>(is_green ? near.centre : green_of(near, algorithm));
  other = static_cast<T>(is_green ? (near.column() + 1) >> 1 : (near.corners + 2) >> 2);
}

// Sums of four pixels of each colour, weighted.
int64_t grey_of(const Neighbourhood& near, bool is_green, int64_t own, int64_t other) {
  const int64_t sum =
      is_green ? 2 * near.row() * own + 2 * near.column() * other + 4 * near.centre * kGreen
               : near.corners * other + near.cross() * kGreen + 4 * near.centre * own;
  return (sum + (1 << 15)) >> 16;
}

// The border repeats the pixels beside it.
template <typename T>
void repeat_border(T* out, int64_t height, int64_t width, int64_t channels) {
  const int64_t row = width * channels;
  for (int64_t y = 1; y + 1 < height; ++y) {
    T* const first = out + y * row;
    std::copy_n(first + channels, channels, first);
    std::copy_n(first + row - 2 * channels, channels, first + row - channels);
  }
  std::copy_n(out + row, row, out);
  std::copy_n(out + (height - 2) * row, row, out + (height - 1) * row);
}

}  // namespace

template <typename T>
void debayer(const T* sensor, int64_t height, int64_t width, BluePixels blue,
             DebayerAlgorithm algorithm, T* out) {
  const int64_t channels = algorithm == DebayerAlgorithm::kGray ? 1 : 3;
  if (height < 3 || width < 3) {
    std::fill_n(out, height * width * channels, T{0});
    return;
  }
  if constexpr (sizeof(T) == 1)
    if (algorithm == DebayerAlgorithm::kGradients &&
        std::min(height, width) >= kLeastForGradients) {
      std::vector<int16_t> padded;
      return debayer_by_gradients(sensor, height, width, blue, padded, out);
    }
  for (int64_t y = 1; y + 1 < height; ++y) {
    const bool is_blue_row = y % 2 == blue.row;
    // Columns of the pixels in this row that are not green.
    const int64_t column = is_blue_row ? blue.column : 1 - blue.column;
    for (int64_t x = 1; x + 1 < width; ++x) {
      const Neighbourhood near = neighbourhood(sensor + y * width + x, width);
      const bool is_green = x % 2 != column;
      T* const pixel = out + (y * width + x) * channels;
      if (channels == 1)
        *pixel = static_cast<T>(
            grey_of(near, is_green, is_blue_row ? kBlue : kRed, is_blue_row ? kRed : kBlue));
      else
        colour_pixel(near, is_green, algorithm, pixel[is_blue_row ? 2 : 0], pixel[1],
                     pixel[is_blue_row ? 0 : 2]);
    }
  }
  repeat_border(out, height, width, channels);
}

template void debayer(const uint8_t*, int64_t, int64_t, BluePixels, DebayerAlgorithm, uint8_t*);
template void debayer(const uint16_t*, int64_t, int64_t, BluePixels, DebayerAlgorithm, uint16_t*);

}  // namespace dali_core
