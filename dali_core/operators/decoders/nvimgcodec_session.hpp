// nvImageCodec's objects for one thread; they are reused from image to image.
#pragma once

#include "dali_core/operators/decoders/codec_library.hpp"
#include "dali_core/operators/decoders/image_types.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC

namespace dali_core {

class NvimgcodecSession {
 public:
  explicit NvimgcodecSession(const CodecLibrary& library);
  ~NvimgcodecSession();
  NvimgcodecSession(const NvimgcodecSession&) = delete;
  NvimgcodecSession& operator=(const NvimgcodecSession&) = delete;

  // Loads the library if need be.
  static NvimgcodecSession& of_this_thread(const CodecLibraryPaths& paths);

  // Reads the header of a file, which must stay in memory while it is decoded.
  ImageInfo open(const EncodedImage& encoded);

  // Decodes a part of the open image, as interleaved samples of the type that is stored. `model` is
  // RGB, grey, or any data for the channels of the file.
  void decode(const CropWindow& part, bool whole, ImageType model, int channels,
              DataType sample_type, bool fast_dct, void* buffer);

  // Memory for pixels that are on their way to the output.
  uint8_t* pixels(size_t count) { return scratch_.get<uint8_t>(0, count); }

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
