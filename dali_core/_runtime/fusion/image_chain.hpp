// Runs a chain of image operators as one: see dali_core/image_chain.hpp for what they must be.
#pragma once

#include <memory>
#include <vector>

#include "dali_core/kernels/image_chain/clip.hpp"
#include "dali_core/kernels/image_chain/image_chain.hpp"
#include "image_region.hpp"
#include "sample_program.hpp"

namespace dali_core {

class ImageChain : public FusedChain {
 public:
  // Operators in their order: a source or none, steps with at most one that resamples and no pixel
  // steps before it, at last a finishing step or none.
  explicit ImageChain(std::vector<std::shared_ptr<const Operator>> operators);

  bool run(SampleContext& own, std::vector<SampleContext>& operators) const override;

 private:
  friend class ImageChainRun;
  friend class ClipChainRun;

  std::vector<std::shared_ptr<const Operator>> operators_;
  const ImageSource* source_ = nullptr;
  const ClipSource* clips_ = nullptr;  // the source, if it makes clips
  std::vector<ChainMember<GeometryStep>> geometry_;
  std::vector<ChainMember<Operator>> pixels_;
  const FinishStep* finish_ = nullptr;
};

}  // namespace dali_core
