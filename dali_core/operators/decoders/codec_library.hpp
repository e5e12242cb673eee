// nvImageCodec, loaded when the first image needs it. Only the host's codecs are registered.
#pragma once

#include <string>
#include <vector>

#include "dali_core/operator.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC
#include <nvimgcodec.h>
#endif

namespace dali_core {

// Where the library lies on this machine; empty if it is not installed. Python finds out.
struct CodecLibraryPaths {
  std::string library;
  std::vector<std::string> extensions;

  CodecLibraryPaths() = default;
  explicit CodecLibraryPaths(const OperatorConfig& config)
      : library(config.get_or<std::string>("codec_library", "")),
        extensions(config.get_or<std::vector<std::string>>("codec_extensions", {})) {}
};

#if DALI_CORE_HAVE_NVIMGCODEC

// The functions that we call, and the library's one instance of this process.
class CodecLibrary {
 public:
  // Loads the library on the first call. Throws when it is absent, broken or of another version.
  static const CodecLibrary& get(const CodecLibraryPaths& paths);

#define DALI_CORE_CODEC_FUNCTION(name) decltype(&nvimgcodec##name) name = nullptr
  DALI_CORE_CODEC_FUNCTION(GetProperties);
  DALI_CORE_CODEC_FUNCTION(InstanceCreate);
  DALI_CORE_CODEC_FUNCTION(ExtensionCreate);
  DALI_CORE_CODEC_FUNCTION(DecoderCreate);
  DALI_CORE_CODEC_FUNCTION(DecoderDestroy);
  DALI_CORE_CODEC_FUNCTION(DecoderDecode);
  DALI_CORE_CODEC_FUNCTION(CodeStreamCreateFromHostMem);
  DALI_CORE_CODEC_FUNCTION(CodeStreamGetSubCodeStream);
  DALI_CORE_CODEC_FUNCTION(CodeStreamGetImageInfo);
  DALI_CORE_CODEC_FUNCTION(CodeStreamDestroy);
  DALI_CORE_CODEC_FUNCTION(ImageCreate);
  DALI_CORE_CODEC_FUNCTION(ImageDestroy);
  DALI_CORE_CODEC_FUNCTION(FutureWaitForAll);
  DALI_CORE_CODEC_FUNCTION(FutureGetProcessingStatus);
  DALI_CORE_CODEC_FUNCTION(FutureDestroy);
#undef DALI_CORE_CODEC_FUNCTION

  nvimgcodecInstance_t instance = nullptr;

 private:
  explicit CodecLibrary(const CodecLibraryPaths& paths);
  void load_extension(const std::string& path);
};

// The library's last complaint on this thread; taking it empties it.
std::string take_codec_message();

#endif

}  // namespace dali_core
