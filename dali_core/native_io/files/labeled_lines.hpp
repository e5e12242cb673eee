// Lines of a text with a path and a label each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "dali_core/native_io/files/path_list.hpp"

namespace dali_core {

// Adds what plain lines say to a list. Lines that have other than ASCII where it matters, and those
// that may be wrong, are for Python to judge.
class LabeledLines {
 public:
  explicit LabeledLines(std::string_view text) : rest_(text) {}

  // Adds lines up to one that is not plain, which it leaves in `line`; false at the end.
  bool find_unclear(PathList& paths) {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
      line_ = rest_.substr(0, end);
      const bool has_both = end + 1 < rest_.size() && rest_[end] == '\r' && rest_[end + 1] == '\n';
      rest_.remove_prefix(std::min(end + (has_both ? 2 : 1), rest_.size()));
      ++number_;
      if (!add_plain(paths)) return true;
    }
    return false;
  }

  std::string line() const { return std::string(line_); }
  int64_t number() const { return number_; }

 private:
  static bool is_space(char one) {
    return one == ' ' || (one >= '\t' && one <= '\r') || (one >= '\x1c' && one <= '\x1f');
  }
  static bool is_blank(char one) { return one == ' ' || one == '\t'; }
  static bool is_digit(char one) { return one >= '0' && one <= '9'; }

  bool add_plain(PathList& paths) const {
    size_t end = line_.size();
    while (end > 0 && is_space(line_[end - 1])) --end;
    if (end == 0) return true;  // nothing but space
    size_t begin = end;
    while (begin > 0 && is_digit(line_[begin - 1])) --begin;
    if (begin == end || end - begin > 10) return false;
    int64_t label = 0;
    for (size_t i = begin; i < end; ++i) label = 10 * label + (line_[i] - '0');
    if (begin > 0 && (line_[begin - 1] == '-' || line_[begin - 1] == '+'))
      if (line_[--begin] == '-') label = -label;
    if (label < INT32_MIN || label > INT32_MAX) return false;
    size_t path_end = begin;
    while (path_end > 0 && is_blank(line_[path_end - 1])) --path_end;
    if (path_end == begin || path_end == 0) return false;
    const char last = line_[path_end - 1];
    if (is_space(last) || static_cast<unsigned char>(last) >= 0x80) return false;
    if (line_.find('\0') != std::string_view::npos) return false;
    paths.add(line_.substr(0, path_end), label);
    return true;
  }

  std::string_view rest_, line_;
  int64_t number_ = 0;
};

}  // namespace dali_core
