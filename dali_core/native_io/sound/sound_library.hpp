// libsndfile, loaded when the first sound needs it. The declarations are those of its public
// interface, https://libsndfile.github.io/libsndfile/api.html, which has stayed the same since
// version 1.0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

struct SoundInfo {
  int64_t frames = 0;
  int sample_rate = 0;
  int channels = 0;
  int format = 0;
  int sections = 0;
  int seekable = 0;
};

struct SoundInput {
  int64_t (*length)(void* context);
  int64_t (*seek)(int64_t offset, int origin, void* context);
  int64_t (*read)(void* target, int64_t count, void* context);
  int64_t (*write)(const void* source, int64_t count, void* context);
  int64_t (*tell)(void* context);
};

class SoundLibrary {
 public:
  // `paths` are tried in their order, on the first call. Throws if there is none.
  static const SoundLibrary& get(const std::vector<std::string>& paths);

  void* (*open_virtual)(SoundInput*, int mode, SoundInfo*, void* context) = nullptr;
  int (*close)(void*) = nullptr;
  int (*error)(void*) = nullptr;  // of the last call; 0 if it has failed in nothing
  const char* (*strerror)(void*) = nullptr;
  int64_t (*seek)(void*, int64_t frames, int origin) = nullptr;
  int64_t (*readf_float)(void*, float*, int64_t frames) = nullptr;
  int64_t (*readf_short)(void*, int16_t*, int64_t frames) = nullptr;
  int64_t (*readf_int)(void*, int32_t*, int64_t frames) = nullptr;

 private:
  explicit SoundLibrary(const std::vector<std::string>& paths);
};

}  // namespace dali_core
