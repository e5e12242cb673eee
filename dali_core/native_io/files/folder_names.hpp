// The names of the files, or of the folders, in a folder, and those of them that match patterns.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dali_core {

// Links count as what they lead to, and as files where they lead nowhere.
class FolderNames {
 public:
  // Lists a folder. Returns 0, or the number of a system error; `problem_path` then says where.
  int list(const std::string& folder, bool want_folders) {
    text_.clear();
    places_.clear();
    const std::unique_ptr<DIR, Close> opened(::opendir(folder.c_str()));
    if (opened == nullptr) return failed(folder);
    while (true) {
      errno = 0;
      const dirent* const entry = ::readdir(opened.get());
      if (entry == nullptr) {
        if (errno != 0) return failed(folder);
        break;
      }
      const std::string_view name(entry->d_name);
      if (name == "." || name == "..") continue;
      bool is_folder = entry->d_type == DT_DIR;
      if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
        struct stat status;
        if (::fstatat(::dirfd(opened.get()), entry->d_name, &status, 0) == 0)
          is_folder = S_ISDIR(status.st_mode);
        else if (errno != ENOENT)
          return failed(folder + (folder.back() == '/' ? "" : "/") + entry->d_name);
      }
      if (is_folder != want_folders) continue;
      places_.emplace_back(text_.size(), name.size());
      text_.append(name);
    }
    std::sort(places_.begin(), places_.end(),
              [this](const auto& one, const auto& other) { return at(one) < at(other); });
    return 0;
  }

  size_t size() const { return places_.size(); }
  std::string_view name(size_t index) const { return at(places_[index]); }
  const std::string& problem_path() const { return problem_path_; }

 private:
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  using Place = std::pair<size_t, size_t>;  // where a name begins, and its length

  std::string_view at(const Place& place) const {
    return std::string_view(text_).substr(place.first, place.second);
  }

  int failed(const std::string& path) {
    problem_path_ = path;
    return errno != 0 ? errno : EIO;
  }

  std::string text_;
  std::vector<Place> places_;
  std::string problem_path_;
};

inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char one) { return static_cast<unsigned char>(one) < 0x80; });
}

// Shell patterns of which one must match a whole name, where that is simple: ASCII, without sets.
class NamePatterns {
 public:
  enum class Match { kNo, kYes, kUnknown };

  NamePatterns(const std::vector<std::string>& patterns, bool case_sensitive)
      : patterns_(patterns), case_sensitive_(case_sensitive) {
    for (std::string& pattern : patterns_) {
      are_simple_ &= is_ascii(pattern) && pattern.find('[') == std::string::npos;
      fold(pattern);
    }
  }

  Match match(std::string_view name) const {
    if (!are_simple_ || !is_ascii(name)) return Match::kUnknown;
    std::string folded(name);
    fold(folded);
    for (const std::string& pattern : patterns_)
      if (matches(pattern, folded)) return Match::kYes;
    return Match::kNo;
  }

 private:
  void fold(std::string& text) const {
    if (case_sensitive_) return;
    for (char& one : text)
      if (one >= 'A' && one <= 'Z') one = static_cast<char>(one - 'A' + 'a');
  }

  // Goes back to the last '*' only: what earlier ones take need not change.
  static bool matches(std::string_view pattern, std::string_view name) {
    size_t p = 0, n = 0, star = std::string_view::npos, taken = 0;
    while (n < name.size()) {
      if (p < pattern.size() && pattern[p] == '*') {
        star = p++;
        taken = n;
      } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
        ++p;
        ++n;
      } else if (star != std::string_view::npos) {
        p = star + 1;
        n = ++taken;
      } else {
        return false;
      }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
  }

  std::vector<std::string> patterns_;
  bool case_sensitive_;
  bool are_simple_ = true;
};

}  // namespace dali_core
