// The base class of operators that decode images: they differ in the part that they give.
#pragma once

#include "dali_core/kernels/image_chain/image_chain.hpp"
#include "dali_core/kernels/image_chain/plane_sink.hpp"
#include "dali_core/native_io/image_decoding/image_decoder.hpp"
#include "dali_core/native_io/image_decoding/sample_sink.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class DecodeOperator : public Operator, public ImageSource {
 public:
  explicit DecodeOperator(const OperatorConfig& config)
      : request_(make_image_request(config)), backends_(config) {}

  void run(SampleContext& sample) const override {
    SampleSink sink(sample, request_.dtype);
    produce(sample, sink);
  }

  DataType image_type() const override { return request_.dtype; }

  void produce(SampleContext& sample, ImageSink& sink) const override {
    PartSink part(*this, sample, sink);
    decode(sample, part);
  }

 protected:
  // The part of an image of `height` x `width` that the operator gives.
  virtual CropWindow choose_part(SampleContext& sample, int64_t height, int64_t width) const = 0;

  void decode(const SampleContext& sample, ImageSink& sink) const {
    decode_image(encoded_input(sample.input(0)), request_, backends_, sink);
  }

 private:
  // Lets another sink choose within the part.
  class PartSink : public ImageSink, public PlaneSink {
   public:
    PartSink(const DecodeOperator& op, SampleContext& sample, ImageSink& inner)
        : op_(op),
          sample_(sample),
          inner_(inner),
          inner_planes_(dynamic_cast<PlaneSink*>(&inner)) {}

    CropWindow choose_region(int64_t height, int64_t width) override {
      const CropWindow part = op_.choose_part(sample_, height, width);
      CropWindow region = inner_.choose_region(part.height, part.width);
      region.y += part.y;
      region.x += part.x;
      return region;
    }

    void* allocate(int64_t height, int64_t width, int channels) override {
      return inner_.allocate(height, width, channels);
    }

    std::optional<CropWindow> choose_planes(const PlanarImage& image) override {
      if (inner_planes_ == nullptr) return std::nullopt;
      PlanarImage with_part = image;
      with_part.part = op_.choose_part(sample_, image.height, image.width);
      return inner_planes_->choose_planes(with_part);
    }

    void allocate_planes(uint8_t** planes) override { inner_planes_->allocate_planes(planes); }

   private:
    const DecodeOperator& op_;
    SampleContext& sample_;
    ImageSink& inner_;
    PlaneSink* const inner_planes_;
  };

  ImageRequest request_;
  DecoderBackends backends_;
};

}  // namespace dali_core
