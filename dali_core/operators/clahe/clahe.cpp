#include "dali_core/kernels/histogram/clahe.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/each_frame.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/kernels/color/lab.hpp"
#include "dali_core/kernels/window/window.hpp"
#include "dali_core/operator.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/histogram/clahe_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

enum ScratchSlot { kPlanes, kLevels, kColumns, kMixes, kWeights };

struct TileGrid {
  int64_t tiles_y, tiles_x;
  int64_t tile_height, tile_width;

  TileGrid(int64_t height, int64_t width, int64_t num_y, int64_t num_x)
      : tiles_y(num_y), tiles_x(num_x) {
    // If either does not divide, both extents grow, by at least one pixel a tile if they must.
    const bool divides = height % num_y == 0 && width % num_x == 0;
    tile_height = divides ? height / num_y : height / num_y + 1;
    tile_width = divides ? width / num_x : width / num_x + 1;
  }
};

}  // namespace

class Clahe : public Operator, public EachFrame {
 public:
  explicit Clahe(const OperatorConfig& config)
      : tiles_y_(config.get<int64_t>("tiles_y")),
        tiles_x_(config.get<int64_t>("tiles_x")),
        clip_limit_(config.get<float>("clip_limit")),
        luma_only_(config.get<bool>("luma_only")) {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    check_image(image);
    Tensor& output = sample.output(0, image.type, image.shape, Layout("HWC"));
    if (image.num_elements() == 0) return;
    const int64_t height = image.shape[0];
    const int64_t width = image.shape[1];
    const int64_t count = height * width;
    const uint8_t* const in = image.as<uint8_t>();
    uint8_t* const out = output.as<uint8_t>();
    if (image.shape[2] == 1) {
      equalize_plane(sample, in, out, height, width);
      return;
    }
    uint8_t* const planes = sample.scratch<uint8_t>(kPlanes, static_cast<size_t>(4 * count));
    uint8_t* const equalized = planes + 3 * count;
    if (luma_only_) {
      const LabTables& tables = lab_tables();
      for (int64_t i = 0; i < count; ++i) {
        const LabBytes lab = to_lab(in + 3 * i, tables);
        planes[i] = lab.lightness;
        planes[i + count] = lab.a;
        planes[i + 2 * count] = lab.b;
      }
      equalize_plane(sample, planes, equalized, height, width);
      for (int64_t i = 0; i < count; ++i)
        from_lab({equalized[i], planes[i + count], planes[i + 2 * count]}, out + 3 * i, tables);
      return;
    }
    for (int c = 0; c < 3; ++c) {
      for (int64_t i = 0; i < count; ++i) planes[i] = in[3 * i + c];
      equalize_plane(sample, planes, equalized, height, width);
      for (int64_t i = 0; i < count; ++i) out[3 * i + c] = equalized[i];
    }
  }

 private:
  static void check_image(const Tensor& image) {
    if (image.type != DataType::kUInt8)
      throw std::invalid_argument("the input must be of type uint8 (got " +
                                  std::string(name_of(image.type)) + "). Use fn.cast.");
    if (image.shape.ndim != 3 || image_layout(image, "FHWC") != Layout("HWC"))
      throw std::invalid_argument("the input's layout must be \"HWC\" (got \"" +
                                  std::string(image.layout.c_str()) + "\" for shape " +
                                  to_string(image.shape) +
                                  "). Reorder the dimensions before this operator.");
    if (image.shape[2] != 1 && image.shape[2] != 3)
      throw std::invalid_argument("the input must have 1 or 3 channels (got " +
                                  std::to_string(image.shape[2]) + " in shape " +
                                  to_string(image.shape) + "). Pass grey or RGB images.");
  }

  void equalize_plane(SampleContext& sample, const uint8_t* in, uint8_t* out, int64_t height,
                      int64_t width) const {
    const TileGrid grid(height, width, tiles_y_, tiles_x_);
    const float* const levels = find_levels(sample, in, height, width, grid);
    int* const left = sample.scratch<int>(kMixes, static_cast<size_t>(2 * width));
    int* const right = left + width;
    float* const weights = sample.scratch<float>(kWeights, static_cast<size_t>(width));
    const float per_pixel_x = 1.0f / static_cast<float>(grid.tile_width);
    const float per_pixel_y = 1.0f / static_cast<float>(grid.tile_height);
    for (int64_t x = 0; x < width; ++x) {
      const TileMix mix = tile_mix(x, per_pixel_x, static_cast<int>(grid.tiles_x));
      left[x] = mix.first * kNumLevels;
      right[x] = mix.second * kNumLevels;
      weights[x] = mix.weight;
    }
    const int64_t levels_in_row = grid.tiles_x * kNumLevels;
    for (int64_t y = 0; y < height; ++y) {
      const TileMix mix = tile_mix(y, per_pixel_y, static_cast<int>(grid.tiles_y));
      DC_SIMD_DISPATCH(mix_row, in + y * width, out + y * width, width,
                       levels + mix.first * levels_in_row, levels + mix.second * levels_in_row,
                       left, right, weights, mix.weight);
    }
  }

  // What each level becomes in each tile.
  const float* find_levels(SampleContext& sample, const uint8_t* in, int64_t height, int64_t width,
                           const TileGrid& grid) const {
    const int64_t padded_width = grid.tiles_x * grid.tile_width;
    int64_t* const columns = sample.scratch<int64_t>(kColumns, static_cast<size_t>(padded_width));
    for (int64_t x = 0; x < padded_width; ++x)
      columns[x] = repeated_source(x, width, OutOfBounds::kReflect101);
    const int64_t num_pixels = grid.tile_height * grid.tile_width;
    const uint32_t limit = count_limit(num_pixels);
    float* const levels = sample.scratch<float>(
        kLevels, static_cast<size_t>(grid.tiles_y * grid.tiles_x) * kNumLevels);
    float* tile = levels;
    for (int64_t top = 0; top < grid.tiles_y * grid.tile_height; top += grid.tile_height) {
      for (int64_t first = 0; first < padded_width; first += grid.tile_width) {
        uint32_t histogram[kNumLevels] = {};
        for (int64_t y = top; y < top + grid.tile_height; ++y) {
          const uint8_t* const row =
              in + repeated_source(y, height, OutOfBounds::kReflect101) * width;
          for (int64_t x = first; x < first + grid.tile_width; ++x) ++histogram[row[columns[x]]];
        }
        if (limit > 0) limit_histogram(histogram, limit);
        tile_levels(histogram, num_pixels, tile);
        tile += kNumLevels;
      }
    }
    return levels;
  }

  // 0 if there is no limit.
  uint32_t count_limit(int64_t num_pixels) const {
    if (!(clip_limit_ > 0)) return 0;
    const double limit = static_cast<double>(clip_limit_) * static_cast<double>(num_pixels) /
                         static_cast<double>(kNumLevels);
    // Beyond the number of pixels, no count is limited.
    return std::max<uint32_t>(
        1, static_cast<uint32_t>(std::min(limit, static_cast<double>(num_pixels))));
  }

  int64_t tiles_y_, tiles_x_;
  float clip_limit_;
  bool luma_only_;
};

DALI_CORE_REGISTER_OPERATOR("clahe", Clahe)

}  // namespace dali_core
