// The base class of operators that make an affine transform from numbers and may apply it to
// another one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/frame_numbers.hpp"
#include "dali_core/kernels/warp/affine.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Dimensions of the space that a transform acts on, from a tensor that holds it.
int transform_dims(const Tensor& tensor);

// Declares output 0 as matrices, one for each frame of a sequence.
Tensor& output_transforms(SampleContext& sample, const FrameCount& frames, int ndim);

class TransformOperator : public Operator {
 public:
  void run(SampleContext& sample) const override;

 protected:
  using Values = std::vector<FrameNumbers::Values>;

  TransformOperator(const OperatorConfig& config, std::initializer_list<const char*> arguments);

  // Dimensions of the space, given those of the input or 0.
  virtual int num_dims(const Values& values, int input_dims) const = 0;

  // Changes `transform`, which is the identity.
  virtual void make(const Values& values, int64_t frame, AffineTransform& transform) const = 0;

  const FrameNumbers& argument(int i) const { return arguments_[i]; }

  // Writes the numbers of a frame, one a dimension. A single one serves for all.
  void spread(const Values& values, int i, int64_t frame, int ndim, float* spread) const;

  void move_center(const Values& values, int i, int64_t frame, AffineTransform& transform) const;

 private:
  static void check_dims(int ndim, int input_dims);

  bool reverse_order_;
  std::vector<FrameNumbers> arguments_;
};

}  // namespace dali_core
