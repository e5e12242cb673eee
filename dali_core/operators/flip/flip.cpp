#include "dali_core/operators/flip/flip.hpp"

#include <array>
#include <cstring>

#include "dali_core/geometry.hpp"
#include "dali_core/image_chain.hpp"
#include "dali_core/mirror_row.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/operators/flip/flip_arguments.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/operators/flip/flip_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// Reverses some dimensions, walking down to the innermost one that is reversed.
class Reversal {
 public:
  Reversal(const Tensor& image, const bool (&flipped)[kMaxDims]) : shape_(image.shape) {
    const Strides strides = dense_strides(shape_);
    for (int i = 0; i < shape_.ndim; ++i) {
      flipped_[i] = flipped[i];
      bytes_[i] = strides[i] * size_of(image.type);
      if (flipped_[i]) innermost_ = i;
    }
  }

  void run(const uint8_t* in, uint8_t* out) const { reverse(0, in, out); }

 private:
  void reverse(int dim, const uint8_t* in, uint8_t* out) const {
    const int64_t extent = shape_[dim];
    const int64_t bytes = bytes_[dim];
    if (dim == innermost_) {
      mirror_row(in, out, extent, bytes);
      return;
    }
    for (int64_t i = 0; i < extent; ++i)
      reverse(dim + 1, in + flip_source(i, extent, flipped_[dim]) * bytes, out + i * bytes);
  }

  Shape shape_;
  bool flipped_[kMaxDims] = {};
  int64_t bytes_[kMaxDims] = {};
  int innermost_ = 0;
};

}  // namespace

void mirror_row(const void* from, void* to, int64_t num_pixels, int64_t pixel_bytes) {
  DC_SIMD_DISPATCH(mirror_pixels, static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to),
                   num_pixels, pixel_bytes);
}

class Flip : public Operator, public WindowStep {
 public:
  explicit Flip(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "FHWC");
    bool flipped[kMaxDims] = {};
    if (!arguments_.choose(sample, image, layout, flipped)) {
      sample.forward(0, image).layout = layout;
      return;
    }
    Tensor& output = sample.output(0, image.type, image.shape, layout);
    Reversal(image, flipped).run(image.as<uint8_t>(), output.as<uint8_t>());
  }

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    image.mirror(arguments_.horizontal(sample), arguments_.vertical(sample));
    return true;
  }

 private:
  FlipArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("flip", Flip)

}  // namespace dali_core
