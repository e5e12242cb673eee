#if DALI_CORE_HAVE_LIBJPEG

#include "dali_core/native_io/libjpeg/libjpeg_session.hpp"

#include <new>

namespace dali_core {

void LibjpegSession::on_error(j_common_ptr info) {
  ErrorManager* errors = static_cast<ErrorManager*>(info->err);
  errors->format_message(info, errors->message);
  std::longjmp(errors->target, 1);
}

void LibjpegSession::fail(j_common_ptr info, const char* message) {
  ErrorManager* errors = static_cast<ErrorManager*>(info->err);
  std::snprintf(errors->message, sizeof errors->message, "%s", message);
  std::longjmp(errors->target, 1);
}

// All bytes are there from the start: a file that needs more is truncated.
boolean LibjpegSession::on_end_of_source(j_decompress_ptr info) {
  fail(reinterpret_cast<j_common_ptr>(info), "premature end of file");
}

void LibjpegSession::skip_source(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  jpeg_source_mgr* source = info->src;
  if (static_cast<size_t>(count) > source->bytes_in_buffer) on_end_of_source(info);
  source->next_input_byte += count;
  source->bytes_in_buffer -= static_cast<size_t>(count);
}

LibjpegSession::LibjpegSession() {
  info_.err = jpeg_std_error(&errors_);
  errors_.error_exit = on_error;
  // Damage that libjpeg can repair is let pass, and nothing is printed.
  errors_.emit_message = [](j_common_ptr, int) {};
  errors_.output_message = [](j_common_ptr) {};
  source_.init_source = [](j_decompress_ptr) {};
  source_.fill_input_buffer = on_end_of_source;
  source_.skip_input_data = skip_source;
  source_.resync_to_restart = jpeg_resync_to_restart;
  source_.term_source = [](j_decompress_ptr) {};
}

void LibjpegSession::open(const EncodedImage& encoded) {
  source_.next_input_byte = encoded.data;
  source_.bytes_in_buffer = encoded.size;
  if (!reaches_end([this] { jpeg_create_decompress(&info_); })) throw std::bad_alloc();
  info_.src = &source_;
}

}  // namespace dali_core

#endif
