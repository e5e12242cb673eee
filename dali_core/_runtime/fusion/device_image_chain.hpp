// Runs a chain of image operators as one on a device: see dali_core/image_chain.hpp for what they
// must be. The operators' code for the host says what they do to the geometry of an image; the
// device makes the pixels.
//
// Where the chain follows a decoder on the host, only what it needs of an image crosses the bus:
// RegionChain is the part on the host, DeviceImageChain the part on the device.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/image_chain/image_chain.hpp"
#include "image_chain.hpp"
#include "image_region.hpp"
#include "sample_program.hpp"

namespace dali_core {

// A RegionChain's description of the image of which it has decoded a part; plain data.
struct RegionNote {
  int64_t full_height, full_width;  // before a decoder shrinks it
  int64_t height, width;            // as it is decoded
  int64_t first_row, first_column;  // where the part begins
};

// Made from a decoder and the members of a DeviceImageChain, all of them the operators' code for
// the host. Output 0 of the last one is the part of the image, output 1 a RegionNote. For samples
// that it refuses, the operators run one by one on the host, and there is no note.
class RegionChain : public FusedChain {
 public:
  explicit RegionChain(std::vector<std::shared_ptr<const Operator>> operators);

  bool run(SampleContext& own, std::vector<SampleContext>& operators) const override;

 private:
  friend class RegionRun;

  std::vector<std::shared_ptr<const Operator>> operators_;
  const ImageSource* source_;
  std::vector<ChainMember<GeometryStep>> steps_;
  const FinishStep* finish_ = nullptr;
  std::unique_ptr<const ImageChain> clip_;  // if the source makes clips
};

// What is left of an image, of which the input is a part. No geometry: it is the result already.
struct PlannedPart {
  std::optional<ImageGeometry> geometry{};
  std::optional<FinishedImage> finish{};
  int64_t first_row = 0;
  int64_t first_column = 0;
};

class DeviceImageChain : public DeviceChain {
 public:
  // Operators in their order: steps with at most one that resamples, at last a finishing step or
  // none. The first one may have a second input, on the host: the note of a RegionChain, whose part
  // of the image is the first. Where there is no note, that is the result already.
  explicit DeviceImageChain(std::vector<std::shared_ptr<const Operator>> operators);

  bool plan(DeviceBatch& batch) const override;

 private:
  bool plan_image(DeviceBatch& batch, int i, PlannedPart& planned) const;

  std::vector<std::shared_ptr<const Operator>> operators_;
  std::vector<const GeometryStep*> steps_;
  const FinishStep* finish_ = nullptr;
};

}  // namespace dali_core
