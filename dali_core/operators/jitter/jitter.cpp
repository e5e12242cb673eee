// fn.jitter: where a pixel comes from.
#include <cmath>
#include <cstdint>

#include "dali_core/each_frame.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/kernels/fill/fill_value.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// `uniform` is a random number in [0, 1).
inline float jittered(int64_t position, float uniform, float degree) {
  return static_cast<float>(position) + (uniform - 0.5f) * degree;
}

inline int64_t nearest_pixel(float position) {
  return static_cast<int64_t>(std::floor(position + 0.5f));
}

inline float between(float first, float second, float weight) {
  return first + (second - first) * weight;
}

namespace {

enum class Interpolation { kNearest = 0, kLinear = 1 };

// An image that is padded with one value beyond its borders.
template <typename T>
class FilledImage {
 public:
  FilledImage(const Tensor& image, T fill)
      : pixels_(image.as<T>()),
        height_(image.shape[0]),
        width_(image.shape[1]),
        channels_(image.shape[2]),
        fill_(fill) {}

  T at(int64_t y, int64_t x, int64_t c) const {
    if (y < 0 || y >= height_ || x < 0 || x >= width_) return fill_;
    return pixels_[(y * width_ + x) * channels_ + c];
  }

  T nearest(float y, float x, int64_t c) const { return at(nearest_pixel(y), nearest_pixel(x), c); }

  T linear(float y, float x, int64_t c) const {
    const float top = std::floor(y), left = std::floor(x);
    const auto row = static_cast<int64_t>(top), column = static_cast<int64_t>(left);
    const auto number = [&](int64_t dy, int64_t dx) {
      return convert<float>(at(row + dy, column + dx, c));
    };
    const float upper = between(number(0, 0), number(0, 1), x - left);
    const float lower = between(number(1, 0), number(1, 1), x - left);
    return convert<T>(between(upper, lower, y - top));
  }

 private:
  const T* pixels_;
  int64_t height_, width_, channels_;
  T fill_;
};

}  // namespace

class Jitter : public Operator, public EachFrame {
 public:
  explicit Jitter(const OperatorConfig& config)
      : degree_(config.get<float>("nDegree")),
        fill_(config.get<float>("fill_value")),
        interpolation_(config.get<Interpolation>("interp_type")),
        mask_(config, "mask"),
        seed_(config.seed) {
    checked_extent(degree_, "nDegree");
  }

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    if (image.shape.ndim != 3 || image_layout(image, "FHWC") != Layout("HWC"))
      throw std::invalid_argument("the input's layout must be \"HWC\" (got \"" +
                                  std::string(image.layout.c_str()) + "\" for shape " +
                                  to_string(image.shape) +
                                  "). Reorder the dimensions before this operator.");
    if (mask_.at(sample) == 0) {
      sample.forward(0, image).layout = Layout("HWC");
      return;
    }
    Tensor& output = sample.output(0, image.type, image.shape, Layout("HWC"));
    RandomStream random = sample.random(seed_);
    visit_type(image.type, [&](auto zero) {
      using T = decltype(zero);
      move_pixels(FilledImage<T>(image, fill_value<T>(fill_)), image.shape, output.as<T>(), random);
    });
  }

 private:
  template <typename T>
  void move_pixels(const FilledImage<T>& image, const Shape& shape, T* out,
                   RandomStream& random) const {
    for (int64_t y = 0; y < shape[0]; ++y) {
      for (int64_t x = 0; x < shape[1]; ++x) {
        const float from_x = jittered(x, random.next_float(), degree_);
        const float from_y = jittered(y, random.next_float(), degree_);
        for (int64_t c = 0; c < shape[2]; ++c)
          *out++ = interpolation_ == Interpolation::kNearest ? image.nearest(from_y, from_x, c)
                                                             : image.linear(from_y, from_x, c);
      }
    }
  }

  float degree_;
  float fill_;
  Interpolation interpolation_;
  Argument<int> mask_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("jitter", Jitter)

}  // namespace dali_core
