// Runs a chain of image operators as one on a device: see dali_core/image_chain.hpp for what they
// must be. The operators' code for the host says what they do to the geometry of an image; the
// device makes the pixels.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dali_core/device_operator.hpp"
#include "dali_core/image_chain.hpp"

namespace dali_core {

class DeviceImageChain : public DeviceChain {
 public:
  // Operators in their order: steps with at most one that resamples, at last a finishing step or
  // none.
  explicit DeviceImageChain(std::vector<std::shared_ptr<const Operator>> operators);

  bool plan(DeviceBatch& batch) const override;

 private:
  struct PlannedImage {
    ImageGeometry geometry;
    std::optional<FinishedImage> finish;
  };

  // None if a step refuses the sample, or has an error that it is to have by itself.
  std::optional<PlannedImage> plan_image(DeviceBatch& batch, int i) const;

  std::vector<std::shared_ptr<const Operator>> operators_;
  std::vector<const GeometryStep*> steps_;
  const FinishStep* finish_ = nullptr;
};

}  // namespace dali_core
