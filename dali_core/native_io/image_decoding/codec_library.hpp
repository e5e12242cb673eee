// nvImageCodec, loaded when the first image needs it. Only the host's codecs are registered.
#pragma once

#include <cstdint>
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
  // Start of the command that decodes in a process of its own; if empty, it is done in this one.
  std::vector<std::string> process;
  int64_t seconds = 10;  // of processor time that it may take for an image of no size

  CodecLibraryPaths() = default;
  explicit CodecLibraryPaths(const OperatorConfig& config)
      : library(config.get_or<std::string>("codec_library", "")),
        extensions(config.get_or<std::vector<std::string>>("codec_extensions", {})),
        process(config.get_or<std::vector<std::string>>("codec_process", {})),
        seconds(config.get_or<int64_t>("codec_seconds", seconds)) {}
};

#if DALI_CORE_HAVE_NVIMGCODEC

// clang-format off
#define DALI_CORE_CODEC_FUNCTIONS(apply) \
  apply(GetProperties) \
  apply(InstanceCreate) \
  apply(ExtensionCreate) \
  apply(DecoderCreate) \
  apply(DecoderDestroy) \
  apply(DecoderDecode) \
  apply(CodeStreamCreateFromHostMem) \
  apply(CodeStreamGetSubCodeStream) \
  apply(CodeStreamGetImageInfo) \
  apply(CodeStreamDestroy) \
  apply(ImageCreate) \
  apply(ImageDestroy) \
  apply(FutureWaitForAll) \
  apply(FutureGetProcessingStatus) \
  apply(FutureDestroy)
// clang-format on

// The functions that we call, and the library's one instance of this process.
class CodecLibrary {
 public:
  // Loads the library on the first call. Throws when it is absent, broken or of another version.
  static const CodecLibrary& get(const CodecLibraryPaths& paths);

#define DALI_CORE_DECLARE(name) decltype(&nvimgcodec##name) name = nullptr;
  DALI_CORE_CODEC_FUNCTIONS(DALI_CORE_DECLARE)
#undef DALI_CORE_DECLARE

  nvimgcodecInstance_t instance = nullptr;

 private:
  explicit CodecLibrary(const CodecLibraryPaths& paths);
  void load_extension(const std::string& path);
};

// The library's last complaint on this thread; taking it empties it.
std::string take_codec_message();

#endif

}  // namespace dali_core
