// libjpeg-turbo's decompressor with errors as exceptions, reading from memory.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/encoded_image/image_types.hpp"

extern "C" {
#include <jpeglib.h>
}

#ifndef LIBJPEG_TURBO_VERSION_NUMBER
#error "libjpeg-turbo is needed: other libjpegs cannot decode a region"
#endif

namespace dali_core {

// A decompressor for each image: one that is reused keeps the tables of the image before, which a
// damaged file would then be decoded with.
class LibjpegSession {
 public:
  LibjpegSession();
  ~LibjpegSession() { jpeg_destroy_decompress(&info_); }
  LibjpegSession(const LibjpegSession&) = delete;
  LibjpegSession& operator=(const LibjpegSession&) = delete;

  jpeg_decompress_struct& info() { return info_; }

  // Starts to read an image; `close` must follow.
  void open(const EncodedImage& encoded);
  void close() { jpeg_destroy_decompress(&info_); }

  size_t bytes_left() const { return source_.bytes_in_buffer; }

  // Runs `action`, which calls libjpeg. Throws if libjpeg gives up: it then jumps out of `action`,
  // which therefore must not hold an object with a destructor.
  template <typename Action>
  void call(const Action& action) {
    if (!reaches_end(action)) throw_message();
  }

 private:
  // libjpeg reports errors by a function that must not return.
  struct ErrorManager : jpeg_error_mgr {
    std::jmp_buf target;
    char message[JMSG_LENGTH_MAX];
  };

  template <typename Action>
  bool reaches_end(const Action& action) {
    if (setjmp(errors_.target)) return false;
    action();
    return true;
  }

  [[noreturn]] void throw_message() const {
    throw std::runtime_error("a JPEG file must be sound and complete (got: " +
                             std::string(errors_.message) + "). The file is damaged.");
  }

  [[noreturn]] static void on_error(j_common_ptr info);
  [[noreturn]] static void fail(j_common_ptr info, const char* message);
  static boolean on_end_of_source(j_decompress_ptr info);
  static void skip_source(j_decompress_ptr info, long count);

  jpeg_decompress_struct info_{};
  ErrorManager errors_{};
  jpeg_source_mgr source_{};
};

}  // namespace dali_core
