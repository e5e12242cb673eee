// The interface of decoding by nvImageCodec, in this process or in another one.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/native_io/image_decoding/codec_library.hpp"

namespace dali_core {

// A part of an image, as interleaved samples of the type that is stored. `model` is RGB, grey, or
// any data for the channels of the file.
struct CodecRequest {
  CropWindow part{};
  bool is_whole = true;
  ImageType model = ImageType::kRGB;
  int channels = 3;
  DataType sample_type = DataType::kUInt8;
  bool fast_dct = false;

  size_t num_bytes() const {
    return static_cast<size_t>(part.height * part.width * channels * size_of(sample_type));
  }
};

class CodecSession {
 public:
  virtual ~CodecSession() = default;

  // The session of this thread; starts what it needs.
  static CodecSession& of_this_thread(const CodecLibraryPaths& paths);

  // Reads the header of a file, which must stay in memory while it is decoded.
  virtual ImageInfo open(const EncodedImage& encoded) = 0;

  // Decodes from the open image into `output`, or, if that is null, into memory of the session that
  // is valid until the next image. Gives the place.
  virtual uint8_t* decode(const CodecRequest& request, void* output) = 0;
};

}  // namespace dali_core
