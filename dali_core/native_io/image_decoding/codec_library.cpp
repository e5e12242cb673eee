#include "dali_core/native_io/image_decoding/codec_library.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace dali_core {
namespace {

std::string& codec_message() {
  static thread_local std::string message;
  return message;
}

// OpenCV, inside one of the extensions, prints each failure unless it finds a variable in the
// environment while it is loaded. The program's own OpenCV must not find it later.
class QuietOpenCv {
 public:
  QuietOpenCv() : was_set_(std::getenv(kVariable) != nullptr) { ::setenv(kVariable, "SILENT", 0); }
  ~QuietOpenCv() {
    if (!was_set_) ::unsetenv(kVariable);
  }

 private:
  static constexpr const char* kVariable = "OPENCV_LOG_LEVEL";
  bool was_set_;
};

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
  // It may quote bytes of a damaged file.
  for (char& letter : message)
    if (letter < ' ' || letter > '~') letter = ' ';
  while (!message.empty() && message.back() == ' ') message.pop_back();
  return message;
}

CodecLibrary::CodecLibrary(const CodecLibraryPaths& paths) {
  void* handle = open_library(paths.library);
#define DALI_CORE_RESOLVE(name) resolve(handle, "nvimgcodec" #name, name);
  DALI_CORE_CODEC_FUNCTIONS(DALI_CORE_RESOLVE)
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
  const QuietOpenCv quiet;
  for (const std::string& path : paths.extensions) load_extension(path);
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
