// nvImageCodec's objects for one thread; they are reused from image to image.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/native_io/image_decoding/codec_session.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC

namespace dali_core {

class NvimgcodecSession : public CodecSession {
 public:
  explicit NvimgcodecSession(const CodecLibrary& library);
  ~NvimgcodecSession() override;
  NvimgcodecSession(const NvimgcodecSession&) = delete;
  NvimgcodecSession& operator=(const NvimgcodecSession&) = delete;

  // Creates what the first image would have to wait for.
  void prepare() { decoder(false); }

  ImageInfo open(const EncodedImage& encoded) override;
  uint8_t* decode(const CodecRequest& request, void* output) override;

 private:
  nvimgcodecDecoder_t decoder(bool fast_dct);

  const CodecLibrary& library_;
  nvimgcodecExecutorDesc_t executor_;
  nvimgcodecDecoder_t decoders_[2] = {nullptr, nullptr};  // the transform is a decoder's property
  nvimgcodecCodeStream_t stream_ = nullptr;
  nvimgcodecCodeStream_t region_ = nullptr;
  nvimgcodecImage_t image_ = nullptr;
  nvimgcodecImageInfo_t info_;
  Scratch scratch_;
};

}  // namespace dali_core

#endif
