// The base class of operators that warp by affine transforms, on host and device.
#pragma once

#include <vector>

#include "dali_core/kernels/tasks/task_operator.hpp"
#include "dali_core/kernels/warp/affine.hpp"
#include "dali_core/kernels/warp/affine_task.hpp"
#include "dali_core/kernels/warp/warp_image.hpp"

namespace dali_core {

struct AffineWarpTasks {
  KernelTasks<AffineTask<2>> images;
  KernelTasks<AffineTask<3>> volumes;

  void launch(DeviceBatch& batch) const {
    images.launch(batch, "warp_images");
    volumes.launch(batch, "warp_volumes");
  }
};

struct AffineWarp : Inferred {
  WarpShape source;
  int64_t extent[3];  // of the output: x, y, z
  // One for all frames or one for each, from coordinates in the output to those in the input.
  std::vector<AffineTransform> transforms;
};

// Computes the whole output on the host.
void run_affine_warp(const WarpArguments& arguments, const AffineWarp& warp, SampleContext& sample);

// Adds what computes it on the device.
void add_affine_warp(const WarpArguments& arguments, const AffineWarp& warp, TaskData& data,
                     AffineWarpTasks& tasks);

// Needs `find(sample, warp)`, which fills in extents and transforms for the shape.
template <typename Self>
class AffineWarpOperator : public TaskOperator<Self> {
 public:
  using Tasks = AffineWarpTasks;

  explicit AffineWarpOperator(const OperatorConfig& config) : arguments_(config) {}

  AffineWarp infer(const SampleContext& sample) const {
    AffineWarp warp;
    warp.source = warp_shape(sample.input(0));
    this->self().find(sample, warp);
    static_cast<Inferred&>(warp) = arguments_.infer(sample, warp.source, warp.extent);
    return warp;
  }

  void run(SampleContext& sample) const override {
    run_affine_warp(arguments_, infer(sample), sample);
  }

  void add(const AffineWarp& warp, TaskData& data, Tasks& tasks) const {
    add_affine_warp(arguments_, warp, data, tasks);
  }

 protected:
  WarpArguments arguments_;
};

}  // namespace dali_core
