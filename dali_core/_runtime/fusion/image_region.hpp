// The part of an image that a chain of geometry steps needs, while the image is decoded.
#pragma once

#include <optional>
#include <vector>

#include "dali_core/kernels/image_chain/image_chain.hpp"

namespace dali_core {

// A step and the number of its operator in the chain.
template <typename Step>
struct ChainMember {
  size_t number;
  const Step* step;
};

// Chooses the part; what makes the memory for it derives.
class ImageRegion : public ImageSink {
 public:
  ImageRegion(const std::vector<ChainMember<GeometryStep>>& steps,
              std::vector<SampleContext>& contexts)
      : contexts_(contexts), steps_(steps) {}

  int allowed_shrinking(int64_t height, int64_t width) override;
  CropWindow choose_region(int64_t height, int64_t width) override;

 protected:
  // Puts the geometry of all steps together.
  void plan(int64_t height, int64_t width);
  // The same for an image that a decoder may have shrunk, as far as it was allowed.
  void plan_decoded(int64_t height, int64_t width);

  std::vector<SampleContext>& contexts_;
  std::optional<ImageGeometry> geometry_;
  DataType type_ = DataType::kNone;  // of the image that the chain begins with
  bool has_layout_ = true;
  // The image before a decoder shrinks it, if it is decoded.
  int64_t full_height_ = 0;
  int64_t full_width_ = 0;
  // Of the part, in the image as it is decoded.
  int64_t first_row_ = 0;
  int64_t first_column_ = 0;

 private:
  const std::vector<ChainMember<GeometryStep>>& steps_;
  // Of the whole image. One that a decoder began at a smaller size, another may take over.
  std::optional<ImageGeometry> planned_;
};

}  // namespace dali_core
