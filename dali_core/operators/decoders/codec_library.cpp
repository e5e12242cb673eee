#include "dali_core/operators/decoders/codec_library.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace dali_core {
namespace {

constexpr const char* kOpenCvLogLevel = "OPENCV_LOG_LEVEL";

std::string& codec_message() {
  static thread_local std::string message;
  return message;
}

// Keeps what the library would print, for the exception that follows.
int keep_message(const nvimgcodecDebugMessageSeverity_t, const nvimgcodecDebugMessageCategory_t,
                 const nvimgcodecDebugMessageData_t* data, void*) {
  if (data->message != nullptr) codec_message() = data->message;
  return 1;
}

void* open_library(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    throw std::runtime_error("nvImageCodec must be loadable (got " +
                             std::string(reason ? reason : "no reason") +
                             "). Reinstall nvidia-nvimgcodec-cu12.");
  }
  return handle;
}

template <typename Function>
void resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (function == nullptr)
    throw std::runtime_error("nvImageCodec must have the function " + std::string(name) +
                             " (got a library without). Install nvidia-nvimgcodec-cu12 0.9.");
}

void check(nvimgcodecStatus_t status, const char* action) {
  if (status != NVIMGCODEC_STATUS_SUCCESS)
    throw std::runtime_error("nvImageCodec must be able to " + std::string(action) +
                             " (got status " + std::to_string(status) + " " + take_codec_message() +
                             "). Reinstall nvidia-nvimgcodec-cu12.");
}

}  // namespace

std::string take_codec_message() {
  std::string message;
  message.swap(codec_message());
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  return message;
}

CodecLibrary::CodecLibrary(const CodecLibraryPaths& paths) {
  void* handle = open_library(paths.library);
#define DALI_CORE_RESOLVE(name) resolve(handle, "nvimgcodec" #name, name)
  DALI_CORE_RESOLVE(GetProperties);
  DALI_CORE_RESOLVE(InstanceCreate);
  DALI_CORE_RESOLVE(ExtensionCreate);
  DALI_CORE_RESOLVE(DecoderCreate);
  DALI_CORE_RESOLVE(DecoderDestroy);
  DALI_CORE_RESOLVE(DecoderDecode);
  DALI_CORE_RESOLVE(CodeStreamCreateFromHostMem);
  DALI_CORE_RESOLVE(CodeStreamGetSubCodeStream);
  DALI_CORE_RESOLVE(CodeStreamGetImageInfo);
  DALI_CORE_RESOLVE(CodeStreamDestroy);
  DALI_CORE_RESOLVE(ImageCreate);
  DALI_CORE_RESOLVE(ImageDestroy);
  DALI_CORE_RESOLVE(FutureWaitForAll);
  DALI_CORE_RESOLVE(FutureGetProcessingStatus);
  DALI_CORE_RESOLVE(FutureDestroy);
#undef DALI_CORE_RESOLVE

  // Structures may change between minor versions as long as the major one is 0.
  nvimgcodecProperties_t properties{NVIMGCODEC_STRUCTURE_TYPE_PROPERTIES, sizeof properties,
                                    nullptr, 0, 0};
  check(GetProperties(&properties), "tell its version");
  if (properties.version / 100 != NVIMGCODEC_VER / 100)
    throw std::runtime_error("nvImageCodec must be of the version built against, " +
                             std::to_string(NVIMGCODEC_VER / 100) + "xx (got " +
                             std::to_string(properties.version) +
                             "). Install nvidia-nvimgcodec-cu12 0.9.");

  nvimgcodecDebugMessengerDesc_t messenger{};
  messenger.struct_type = NVIMGCODEC_STRUCTURE_TYPE_DEBUG_MESSENGER_DESC;
  messenger.struct_size = sizeof messenger;
  messenger.message_severity = NVIMGCODEC_DEBUG_MESSAGE_SEVERITY_DEFAULT;
  messenger.message_category = NVIMGCODEC_DEBUG_MESSAGE_CATEGORY_ALL;
  messenger.user_callback = keep_message;
  nvimgcodecInstanceCreateInfo_t create{};
  create.struct_type = NVIMGCODEC_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  create.struct_size = sizeof create;
  create.load_builtin_modules = 1;
  create.create_debug_messenger = 1;
  create.debug_messenger_desc = &messenger;
  create.message_severity = messenger.message_severity;
  create.message_category = messenger.message_category;
  check(InstanceCreate(&instance, &create), "start");
  // OpenCV, inside one of the extensions, prints each failure unless it finds this while loading.
  const bool was_set = std::getenv(kOpenCvLogLevel) != nullptr;
  if (!was_set) ::setenv(kOpenCvLogLevel, "SILENT", 0);
  for (const std::string& path : paths.extensions) load_extension(path);
  if (!was_set) ::unsetenv(kOpenCvLogLevel);
}

void CodecLibrary::load_extension(const std::string& path) {
  nvimgcodecExtensionModuleEntryFunc_t entry = nullptr;
  resolve(open_library(path), "nvimgcodecExtensionModuleEntry", entry);
  nvimgcodecExtensionDesc_t description{};
  description.struct_type = NVIMGCODEC_STRUCTURE_TYPE_EXTENSION_DESC;
  description.struct_size = sizeof description;
  check(entry(&description), "describe an extension");
  nvimgcodecExtension_t extension = nullptr;
  check(ExtensionCreate(instance, &extension, &description), "load an extension");
}

const CodecLibrary& CodecLibrary::get(const CodecLibraryPaths& paths) {
  if (paths.library.empty())
    throw std::runtime_error(
        "this format needs the package nvidia-nvimgcodec-cu12 (got a machine without it). "
        "Install it with pip.");
  // Never destroyed: worker threads of other pipelines may still decode while the process ends.
  static const CodecLibrary* const library = new CodecLibrary(paths);
  return *library;
}

}  // namespace dali_core

#endif
