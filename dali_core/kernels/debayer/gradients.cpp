#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "dali_core/kernels/convolution/border.hpp"
#include "dali_core/kernels/debayer/debayer.hpp"

namespace dali_core {
namespace {

// Gradients look at neighbours of neighbours.
constexpr int64_t kRadius = 2;

constexpr struct Direction {
  int y, x;
} kDirections[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, 1}, {1, -1}, {-1, -1}, {1, 1}};

// Twice the mean of each colour on one side of a pixel: that of the pixel itself, and the others.
struct Sums {
  int own = 0, first = 0, second = 0;
};

// A pixel of the padded image, with the others around it.
class Place {
 public:
  Place(const int16_t* at, int64_t stride) : at_(at), stride_(stride) {}

  int value(int y, int x) const { return at_[y * stride_ + x]; }

  // How much pixels of one colour differ in a direction, on this side of the pixel.
  int gradient(Direction d, bool is_green) const {
    if (d.x == 0) return vertical(0, 0) + vertical(d.y, 0);
    if (d.y == 0) return horizontal(0, 0) + horizontal(0, d.x);
    const int slope = d.y * d.x;
    if (is_green)
      return diagonal(0, 0, slope) + diagonal(d.y, 0, slope) + diagonal(0, d.x, slope) +
             diagonal(d.y, d.x, slope);
    return wide_diagonal(0, 0, slope) + wide_diagonal(d.y, d.x, slope);
  }

  // At green pixels the other colours are that of the row and that of the column; elsewhere green
  // and the third one.
  Sums sums(Direction d, bool is_green) const {
    const bool is_straight = d.y * d.x == 0;
    if (!is_green)
      return {value(2 * d.y, 2 * d.x) + value(0, 0),
              is_straight ? 2 * value(d.y, d.x) : half_cross(d.y, d.x),
              is_straight ? value(d.y + d.x, d.x + d.y) + value(d.y - d.x, d.x - d.y)
                          : 2 * value(d.y, d.x)};
    if (!is_straight)
      return {2 * value(d.y, d.x), value(0, d.x) + value(2 * d.y, d.x),
              value(d.y, 0) + value(d.y, 2 * d.x)};
    const int own = value(2 * d.y, 2 * d.x) + value(0, 0);
    const int along = 2 * value(d.y, d.x);
    const int across = value(2 * d.y + d.x, 2 * d.x + d.y) + value(2 * d.y - d.x, 2 * d.x - d.y);
    return d.y == 0 ? Sums{own, along, across} : Sums{own, across, along};
  }

 private:
  int difference(int y, int x, int other_y, int other_x) const {
    return std::abs(value(y, x) - value(other_y, other_x));
  }
  int vertical(int y, int x) const {
    return difference(y - 1, x - 1, y + 1, x - 1) + 2 * difference(y - 1, x, y + 1, x) +
           difference(y - 1, x + 1, y + 1, x + 1);
  }
  int horizontal(int y, int x) const {
    return difference(y - 1, x - 1, y - 1, x + 1) + 2 * difference(y, x - 1, y, x + 1) +
           difference(y + 1, x - 1, y + 1, x + 1);
  }
  // Between the corners above and below; `slope` is -1 if the upper one is on the right.
  int diagonal(int y, int x, int slope) const {
    return 2 * difference(y - 1, x - slope, y + 1, x + slope);
  }
  int wide_diagonal(int y, int x, int slope) const {
    return diagonal(y, x, slope) + difference(y - 1, x, y, x + slope) +
           difference(y + 1, x, y, x - slope);
  }
  int half_cross(int y, int x) const {
    return (value(y - 1, x) + value(y + 1, x) + value(y, x - 1) + value(y, x + 1)) >> 1;
  }

  const int16_t* at_;
  int64_t stride_;
};

uint8_t moved(int value, int sum, int own, int count) {
  const double difference = std::nearbyint(static_cast<double>(sum - own) / (2 * count));
  return static_cast<uint8_t>(std::clamp(value + static_cast<int>(difference), 0, 255));
}

// Only directions in which little changes count.
void colour_pixel(const Place& place, bool is_green, uint8_t& own, uint8_t& first,
                  uint8_t& second) {
  int gradients[8];
  for (int i = 0; i < 8; ++i) gradients[i] = place.gradient(kDirections[i], is_green);
  const auto [least, most] = std::minmax_element(gradients, gradients + 8);
  const int threshold = *least + std::max(*most / 2, 1);
  Sums total;
  int count = 0;
  for (int i = 0; i < 8; ++i) {
    if (gradients[i] >= threshold) continue;
    const Sums sums = place.sums(kDirections[i], is_green);
    total.own += sums.own;
    total.first += sums.first;
    total.second += sums.second;
    ++count;
  }
  const int value = place.value(0, 0);
  own = static_cast<uint8_t>(value);
  first = moved(value, total.first, total.own, count);
  second = moved(value, total.second, total.own, count);
}

}  // namespace

void debayer_by_gradients(const uint8_t* sensor, int64_t height, int64_t width, BluePixels blue,
                          std::vector<int16_t>& padded, uint8_t* out) {
  const int64_t stride = width + 2 * kRadius;
  padded.resize(static_cast<size_t>(stride * (height + 2 * kRadius)));
  for (int64_t y = -kRadius; y < height + kRadius; ++y) {
    const uint8_t* const row = sensor + border_place(Border::kReflect101, y, height) * width;
    int16_t* const to = padded.data() + (y + kRadius) * stride + kRadius;
    for (int64_t x = -kRadius; x < width + kRadius; ++x)
      to[x] = row[border_place(Border::kReflect101, x, width)];
  }
  for (int64_t y = 0; y < height; ++y) {
    const bool is_blue_row = y % 2 == blue.row;
    const int64_t column = is_blue_row ? blue.column : 1 - blue.column;
    const int of_row = is_blue_row ? 2 : 0;
    for (int64_t x = 0; x < width; ++x, out += 3) {
      const Place place(padded.data() + (y + kRadius) * stride + x + kRadius, stride);
      const bool is_green = x % 2 != column;
      if (is_green)
        colour_pixel(place, true, out[1], out[of_row], out[2 - of_row]);
      else
        colour_pixel(place, false, out[of_row], out[1], out[2 - of_row]);
    }
  }
}

}  // namespace dali_core
