#include "dali_core/kernels/video/convert_planes.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

#include "dali_core/kernels/flip/mirror_row.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

// Pixels that are converted at once: what lies in between stays in the first-level cache.
constexpr int64_t kChunkPixels = 1024;
// Rows of an upright image that are columns of the frame: enough to read whole cache lines.
constexpr int64_t kTransposedRows = 32;

enum class MixKind : int8_t {
  kOne,    // one output, of luma alone
  kGray,   // three outputs of luma alone
  kToRgb,  // red without blue chroma, blue without red
  kAny
};

// Weights of the chroma sample that a pixel belongs to, and of the next one, in `step` direction.
struct ChromaWeights {
  int near;
  int far;
  int step;
};

// Of the pixel that is number `phase` of the 1 << shift that share a sample. The sum of weights is
// chroma_weight(shift).
constexpr ChromaWeights chroma_weights(int phase, int shift) {
  const int size = 1 << shift;
  const int distance = 2 * phase + 1 - size;
  const int far = distance < 0 ? -distance : distance;
  return shift == 0   ? ChromaWeights{1, 0, 0}
         : shift == 1 ? ChromaWeights{3, 1, distance < 0 ? -1 : 1}
                      : ChromaWeights{2 * size - far, far, distance < 0 ? -1 : 1};
}

constexpr int chroma_weight(int shift) { return shift == 0 ? 1 : 2 << shift; }

// Samples of chroma that are spread evenly over pixels: a pixel has `far` of the sample after
// `near`.
struct ChromaPlace {
  int64_t near;
  float far;
};

struct ChromaSpacing {
  int64_t num_samples;
  int64_t distance;  // between two pixels, in samples times 65536

  static ChromaSpacing of(int64_t num_pixels, int shift) {
    const int64_t num_samples = ((num_pixels - 1) >> shift) + 1;
    return {num_samples, ((num_samples << 16) + num_pixels / 2) / num_pixels};
  }

  ChromaPlace place(int64_t pixel) const {
    constexpr int64_t kOne = 1 << 17;
    // Centres of pixels lie half a distance from the edge, and those of samples half a sample.
    const int64_t place =
        std::clamp<int64_t>((2 * pixel + 1) * distance - kOne / 2, 0, (num_samples - 1) * kOne);
    return {place / kOne, static_cast<float>(place % kOne) / kOne};
  }

  int64_t next(int64_t sample) const { return std::min(sample + 1, num_samples - 1); }
};

// The rows of all planes that a row of pixels is made of.
struct PlaneRows {
  const void* first;
  const void* near[2];  // of chroma; or of blue and red
  const void* far[2];
  int near_weight;
  int far_weight;
  int shift_x;
  ChromaSpacing spacing;  // horizontally
  float far_share;        // where chroma is spread evenly: of the far row
  bool is_subsampled;
  bool is_spread;
  bool swaps;  // the first and last output
  int num_outputs;
  MixKind kind;
};

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/video/convert_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// Shares of red and blue in luma.
struct LumaShares {
  double red;
  double blue;
};

using Matrix = double[3][3];

void multiply(const Matrix& a, const Matrix& b, Matrix& result) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      result[i][j] = 0;
      for (int k = 0; k < 3; ++k) result[i][j] += a[i][k] * b[k][j];
    }
}

// Red, green and blue from luma and the two of chroma, which go from -1/2 to 1/2.
void matrix_to_rgb(const LumaShares& shares, Matrix& result) {
  const double green = 1 - shares.red - shares.blue;
  const double from_red = 2 * (1 - shares.red);
  const double from_blue = 2 * (1 - shares.blue);
  const Matrix matrix = {
      {1, 0, from_red},
      {1, -from_blue * shares.blue / green, -from_red * shares.red / green},
      {1, from_blue, 0},
  };
  std::memcpy(result, matrix, sizeof(Matrix));
}

constexpr LumaShares kBT601 = {0.299, 0.114};
constexpr LumaShares kBT709 = {0.2126, 0.0722};
constexpr LumaShares kBT2020 = {0.2627, 0.0593};

void matrix_from_rgb(const LumaShares& shares, Matrix& result) {
  const double green = 1 - shares.red - shares.blue;
  const double blue = 2 * (1 - shares.blue);
  const double red = 2 * (1 - shares.red);
  const Matrix matrix = {
      {shares.red, green, shares.blue},
      {-shares.red / blue, -green / blue, (1 - shares.blue) / blue},
      {(1 - shares.red) / red, -green / red, -shares.blue / red},
  };
  std::memcpy(result, matrix, sizeof(Matrix));
}

// Red, green and blue from what the planes have: ITU-T H.273, table 4.
void stored_to_rgb(const FramePlanes& planes, VideoMatrix choice, Matrix& result) {
  if (planes.is_rgb) {
    const Matrix order = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    std::memcpy(result, order, sizeof(Matrix));
    return;
  }
  if (choice == VideoMatrix::kBT601) return matrix_to_rgb(kBT601, result);
  if (choice == VideoMatrix::kBT709) return matrix_to_rgb(kBT709, result);
  if (choice == VideoMatrix::kBT2020) return matrix_to_rgb(kBT2020, result);
  switch (planes.matrix) {
    case 1:
      return matrix_to_rgb(kBT709, result);
    case 4:
      return matrix_to_rgb({0.30, 0.11}, result);
    case 5:
    case 6:
      return matrix_to_rgb(kBT601, result);
    case 7:
      return matrix_to_rgb({0.212, 0.087}, result);
    case 8: {  // YCgCo
      const Matrix matrix = {{1, -1, 1}, {1, 1, 0}, {1, -1, -1}};
      std::memcpy(result, matrix, sizeof(Matrix));
      return;
    }
    case 9:
      return matrix_to_rgb(kBT2020, result);
    case 2:
      return matrix_to_rgb(planes.width >= 1280 || planes.height > 576 ? kBT709 : kBT601, result);
    default:
      throw std::runtime_error(
          "the stream's colour matrix must be known for color_matrix=\"auto\" (got code " +
          std::to_string(planes.matrix) + " of ITU-T H.273). Choose color_matrix yourself.");
  }
}

// How the values of a plane are read: (value - zero) * factor.
struct Scale {
  double zero;
  double factor;
};

Scale luma_scale(int bits, bool full_range) {
  if (full_range) return {0, 1.0 / ((1 << bits) - 1)};
  const double step = 1 << (bits - 8);
  return {16 * step, 1 / (219 * step)};
}

Scale chroma_scale(int bits, bool full_range) {
  const double step = 1 << (bits - 8);
  return {128 * step, full_range ? 1.0 / ((1 << bits) - 1) : 1 / (224 * step)};
}

bool has_chroma(const FramePlanes& planes) { return planes.num_planes == 3 && !planes.is_rgb; }

// Whether a sample of chroma belongs to fewer pixels than others.
bool is_spread(const FramePlanes& planes) {
  return has_chroma(planes) && (planes.width % (1 << planes.chroma_shift_x) != 0 ||
                                planes.height % (1 << planes.chroma_shift_y) != 0);
}

// Largest factor that chroma has which is interpolated by whole numbers.
int chroma_factor(const FramePlanes& planes) {
  if (!has_chroma(planes)) return 1;
  return chroma_weight(planes.chroma_shift_x) * chroma_weight(planes.chroma_shift_y);
}

PlaneMix make_mix(const FramePlanes& planes, ImageType type, VideoMatrix choice) {
  Matrix to_rgb, mixed;
  stored_to_rgb(planes, choice, to_rgb);
  double output_scale[3] = {255, 255, 255};
  double output_zero[3] = {0, 0, 0};
  const double (*used)[3] = to_rgb;
  if (type == ImageType::kGray || type == ImageType::kYCbCr) {
    Matrix to_ycbcr;
    matrix_from_rgb(kBT601, to_ycbcr);
    multiply(to_ycbcr, to_rgb, mixed);
    // What luma is made of is exact where nothing changes.
    for (auto& row : mixed)
      for (double& factor : row)
        if (std::abs(factor) < 1e-12) factor = 0;
    used = mixed;
  }
  if (type == ImageType::kYCbCr) {
    output_scale[0] = 219;
    output_scale[1] = output_scale[2] = 224;
    output_zero[0] = 16;
    output_zero[1] = output_zero[2] = 128;
  }
  PlaneMix mix;
  const int weight = is_spread(planes) ? 1 : chroma_factor(planes);
  for (int k = 0; k < 3; ++k) {
    double offset = output_zero[k];
    for (int i = 0; i < 3; ++i) {
      const bool is_chroma = i > 0 && !planes.is_rgb;
      const Scale scale = is_chroma ? chroma_scale(planes.bits, planes.full_range)
                                    : luma_scale(planes.bits, planes.full_range);
      const double factor = used[k][i] * scale.factor * output_scale[k];
      // A frame without chroma is grey.
      if (is_chroma && planes.num_planes == 1) continue;
      mix.factors[k][i] = static_cast<float>(factor / (is_chroma ? weight : 1));
      offset -= factor * scale.zero;
    }
    mix.offsets[k] = static_cast<float>(offset + 0.5);
  }
  return mix;
}

[[noreturn]] void refuse(const std::string& what, const std::string& got) {
  throw std::runtime_error("a decoded frame must have " + what + " (got " + got +
                           "). Convert the video to a common format.");
}

void check_planes(const FramePlanes& planes) {
  if (planes.width < 1 || planes.height < 1 || planes.width > kMaxImagePixels / planes.height)
    refuse("from 1 to 2**30 pixels",
           std::to_string(planes.width) + " x " + std::to_string(planes.height));
  if (planes.num_planes != 1 && planes.num_planes != 3)
    refuse("1 or 3 planes", std::to_string(planes.num_planes));
  if (planes.is_rgb && planes.num_planes != 3)
    refuse("3 planes of green, blue and red", std::to_string(planes.num_planes));
  if (planes.orientation < 1 || planes.orientation > 8)
    refuse("one of the 8 orientations of Exif", std::to_string(planes.orientation));
  if (planes.bits < 8 || planes.bits > 16)
    refuse("from 8 to 16 bits a value", std::to_string(planes.bits));
  if (has_chroma(planes)) {
    const auto known = [](int shift) { return shift >= 0 && shift <= 2; };
    if (!known(planes.chroma_shift_x) || !known(planes.chroma_shift_y))
      refuse("chroma that 1, 2 or 4 pixels share in each direction",
             "shifts " + std::to_string(planes.chroma_shift_x) + " and " +
                 std::to_string(planes.chroma_shift_y));
    if (((int64_t{1} << planes.bits) - 1) * chroma_factor(planes) > 65535)
      refuse("at most 12 bits a value where chroma is subsampled", std::to_string(planes.bits));
  }
  for (int i = 0; i < planes.num_planes; ++i)
    if (planes.data[i] == nullptr) refuse("all its planes", "none at " + std::to_string(i));
}

const uint8_t* plane_row(const FramePlanes& planes, int plane, int64_t y) {
  return planes.data[plane] + y * planes.stride[plane];
}

}  // namespace

VideoMatrix video_matrix(const std::string& name) {
  static const std::map<std::string, VideoMatrix> matrices = {{"bt601", VideoMatrix::kBT601},
                                                              {"bt709", VideoMatrix::kBT709},
                                                              {"bt2020", VideoMatrix::kBT2020},
                                                              {"auto", VideoMatrix::kAuto}};
  const auto found = matrices.find(name);
  if (found == matrices.end())
    throw std::invalid_argument(
        "color_matrix must be \"bt601\", \"bt709\", \"bt2020\" or \"auto\" (got \"" + name +
        "\"). Use one of them.");
  return found->second;
}

FrameConverter::FrameConverter(const FramePlanes& planes, ImageType type, VideoMatrix matrix)
    : planes_(planes),
      turn_(Orientation::from_exif(planes.orientation)),
      type_(type),
      channels_(type == ImageType::kGray ? 1 : 3) {
  check_planes(planes);
  mix_ = make_mix(planes, type, matrix);
}

void FrameConverter::convert_row(int64_t y, int64_t x, int64_t count, uint8_t* out) const {
  const bool is_grey = planes_.num_planes == 1;
  PlaneRows rows{};
  rows.first = plane_row(planes_, 0, y);
  rows.num_outputs = channels_;
  rows.swaps = type_ == ImageType::kBGR;
  if (is_grey || (channels_ == 1 && mix_.factors[0][1] == 0 && mix_.factors[0][2] == 0))
    rows.kind = channels_ == 1 ? MixKind::kOne : MixKind::kGray;
  else if (mix_.factors[0][1] == 0 && mix_.factors[2][2] == 0 && type_ != ImageType::kYCbCr &&
           !planes_.is_rgb && channels_ == 3)
    rows.kind = MixKind::kToRgb;
  else
    rows.kind = MixKind::kAny;
  if (!is_grey) {
    const int shift_x = planes_.is_rgb ? 0 : planes_.chroma_shift_x;
    const int shift_y = planes_.is_rgb ? 0 : planes_.chroma_shift_y;
    const ChromaSpacing spacing_y = ChromaSpacing::of(planes_.height, shift_y);
    rows.is_spread = is_spread(planes_);
    int64_t near = y >> shift_y, far = near;
    if (rows.is_spread) {
      const ChromaPlace place = spacing_y.place(y);
      near = place.near;
      far = spacing_y.next(near);
      rows.far_share = place.far;
    } else {
      const ChromaWeights weights =
          chroma_weights(static_cast<int>(y - (near << shift_y)), shift_y);
      far = std::clamp<int64_t>(near + weights.step, 0, spacing_y.num_samples - 1);
      rows.near_weight = weights.near;
      rows.far_weight = weights.far;
    }
    for (int i = 0; i < 2; ++i) {
      rows.near[i] = plane_row(planes_, i + 1, near);
      rows.far[i] = plane_row(planes_, i + 1, far);
    }
    rows.shift_x = shift_x;
    rows.spacing = ChromaSpacing::of(planes_.width, shift_x);
    rows.is_subsampled = shift_x + shift_y > 0;
  }
  for (int64_t done = 0; done < count; done += kChunkPixels) {
    const int64_t some = std::min(kChunkPixels, count - done);
    uint8_t* const to = out + done * channels_;
    if (planes_.bits > 8)
      DC_SIMD_DISPATCH(convert_chunk<uint16_t>, rows, mix_, x + done, some, to);
    else
      DC_SIMD_DISPATCH(convert_chunk<uint8_t>, rows, mix_, x + done, some, to);
  }
}

void FrameConverter::read(const CropWindow& part, uint8_t* out, int64_t stride) const {
  if (turn_.transpose) return read_transposed(part, out, stride);
  uint8_t row[3 * kChunkPixels];
  for (int64_t i = 0; i < part.height; ++i) {
    const int64_t y = turn_.flip_y ? planes_.height - 1 - part.y - i : part.y + i;
    if (!turn_.flip_x) {
      convert_row(y, part.x, part.width, out + i * stride);
      continue;
    }
    for (int64_t done = 0; done < part.width; done += kChunkPixels) {
      const int64_t some = std::min(kChunkPixels, part.width - done);
      convert_row(y, planes_.width - part.x - done - some, some, row);
      mirror_row(row, out + i * stride + done * channels_, some, channels_);
    }
  }
}

void FrameConverter::read_transposed(const CropWindow& part, uint8_t* out, int64_t stride) const {
  uint8_t pixels[3 * kTransposedRows];
  for (int64_t first = 0; first < part.height; first += kTransposedRows) {
    const int64_t rows = std::min(kTransposedRows, part.height - first);
    const int64_t y = part.y + first;
    // Rows from y on are columns from here on, in this or in reverse order.
    const int64_t column = turn_.flip_y ? planes_.width - y - rows : y;
    for (int64_t i = 0; i < part.width; ++i) {
      const int64_t x = part.x + i;
      convert_row(turn_.flip_x ? planes_.height - 1 - x : x, column, rows, pixels);
      for (int64_t row = 0; row < rows; ++row)
        std::memcpy(out + (first + (turn_.flip_y ? rows - 1 - row : row)) * stride + i * channels_,
                    pixels + row * channels_, static_cast<size_t>(channels_));
    }
  }
}

}  // namespace dali_core
