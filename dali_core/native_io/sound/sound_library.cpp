#include "dali_core/native_io/sound/sound_library.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace dali_core {
namespace {

template <typename Function>
bool resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

SoundLibrary::SoundLibrary(const std::vector<std::string>& paths) {
  std::string reason = "none was found";
  for (const std::string& path : paths) {
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const error = ::dlerror();
      reason = error != nullptr ? error : "no reason given";
      continue;
    }
    if (resolve(handle, "sf_open_virtual", open_virtual) && resolve(handle, "sf_close", close) &&
        resolve(handle, "sf_error", error) && resolve(handle, "sf_strerror", strerror) &&
        resolve(handle, "sf_seek", seek) && resolve(handle, "sf_readf_float", readf_float) &&
        resolve(handle, "sf_readf_short", readf_short) &&
        resolve(handle, "sf_readf_int", readf_int))
      return;
    reason = path + " has not all functions";
  }
  throw std::runtime_error("decoding audio needs libsndfile (" + reason +
                           "). Run pip install soundfile.");
}

const SoundLibrary& SoundLibrary::get(const std::vector<std::string>& paths) {
  // Never destroyed: threads of other pipelines may still decode while the process ends.
  static const SoundLibrary* const library = new SoundLibrary(paths);
  return *library;
}

}  // namespace dali_core
