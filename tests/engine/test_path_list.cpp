// Paths of many files: in memory and in files, which may be damaged, from lines of text and from
// folders.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "dali_core/native_io/files/folder_names.hpp"
#include "dali_core/native_io/files/labeled_lines.hpp"
#include "dali_core/native_io/files/path_list.hpp"

using namespace dali_core;

namespace {

PathList some_paths() {
  PathList paths;
  paths.begin_folder("a/");
  paths.add("1.jpg", 0);
  paths.add("2.jpg", 0);
  paths.begin_folder("empty/");
  paths.begin_folder("c/");
  paths.add("3.jpg", 2);
  return paths;
}

std::string bytes_of_file(const PathList& paths, const std::string& note) {
  const auto writer = paths.writer(note);
  std::string bytes;
  for (std::string piece = writer->next(); !piece.empty(); piece = writer->next()) bytes += piece;
  return bytes;
}

// Reads everything that there is; a wrong offset is for the sanitizer to find.
std::vector<std::string> all_of(const PathList& paths) {
  std::vector<std::string> all;
  for (int64_t i = 0; i < paths.num_folders(); ++i) all.emplace_back(paths.prefix(i));
  for (int64_t i = 0; i < paths.size(); ++i) {
    const LabeledPath found = paths.at(i);
    all.push_back(found.path + " " + std::to_string(found.label));
  }
  return all;
}

// A file with some bytes, which is removed in the end.
class PathFileInFolder {
 public:
  explicit PathFileInFolder(const std::string& bytes) {
    CHECK(::mkdtemp(folder_.data()) != nullptr);
    replace(bytes);
  }
  ~PathFileInFolder() { std::filesystem::remove_all(folder_); }
  PathFileInFolder(const PathFileInFolder&) = delete;
  PathFileInFolder& operator=(const PathFileInFolder&) = delete;

  std::string path() const { return folder_ + "/paths"; }
  bool is_there() const { return std::filesystem::exists(path()); }

  void replace(const std::string& bytes) const {
    std::ofstream(folder_ + "/new", std::ios::binary) << bytes;
    std::filesystem::rename(folder_ + "/new", path());
  }

 private:
  std::string folder_ = std::filesystem::temp_directory_path() / "path_list_XXXXXX";
};

}  // namespace

TEST(paths_begin_with_their_folders) {
  const PathList paths = some_paths();
  CHECK_EQUAL(paths.size(), 3);
  CHECK_EQUAL(paths.path(1), "a/2.jpg");
  CHECK_EQUAL(paths.path(2), "c/3.jpg");
  CHECK_EQUAL(paths.at(2).label, 2);
  CHECK_EQUAL(paths.prefix(1), "empty/");
  PathList listed;
  listed.add("x", -1);
  CHECK_EQUAL(listed.path(0), "x");
}

TEST(paths_in_a_file_are_those_in_memory) {
  PathList paths;
  for (int i = 0; i < 1000; ++i) {
    if (i % 100 == 0) paths.begin_folder(std::to_string(i) + "/");
    if (i % 300 == 0) paths.begin_folder("empty/");
    paths.add(std::string(static_cast<size_t>(i % 7), 'x') + std::to_string(i), -i);
  }
  const PathFileInFolder file(bytes_of_file(paths, "note"));
  PathList opened;
  std::string note;
  CHECK(opened.open(file.path(), note));
  CHECK_EQUAL(note, "note");
  CHECK_EQUAL(opened.num_folders(), 14);
  CHECK(all_of(opened) == all_of(paths));
  std::vector<int32_t> labels(1000);
  opened.copy_labels(labels.data());
  for (int i = 0; i < 1000; ++i) CHECK_EQUAL(labels[static_cast<size_t>(i)], -i);
}

TEST(damaged_files_are_refused_when_they_are_opened) {
  const PathList paths = some_paths();
  const std::string bytes = bytes_of_file(paths, "note");
  int num_refused = 0;
  const auto try_bytes = [&](const std::string& changed) {
    const PathFileInFolder file(changed);
    PathList opened;
    std::string note;
    if (!opened.open(file.path(), note)) {
      ++num_refused;
      return;
    }
    CHECK_EQUAL(note, "note");
    CHECK_EQUAL(opened.size(), paths.size());
    CHECK(all_of(opened) == all_of(paths));
  };
  for (size_t place = 0; place < bytes.size(); ++place) {
    for (const int value : {0x00, 0x01, 0x2f, 0x7f, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(value);
      if (changed != bytes) try_bytes(changed);
    }
  }
  const int num_changed = std::exchange(num_refused, 0);
  CHECK(num_changed > 600);
  for (size_t length = 0; length < bytes.size(); ++length) try_bytes(bytes.substr(0, length));
  CHECK_EQUAL(num_refused, static_cast<int>(bytes.size()));
}

TEST(files_may_be_cut_off_or_replaced_while_they_are_used) {
  const PathList paths = some_paths();
  const PathFileInFolder file(bytes_of_file(paths, ""));
  PathList opened, other;
  std::string note;
  CHECK(opened.open(file.path(), note));
  file.replace(bytes_of_file(PathList(), ""));
  CHECK(all_of(opened) == all_of(paths));
  CHECK(other.open(file.path(), note));
  CHECK_EQUAL(other.size(), 0);
  file.replace(bytes_of_file(paths, ""));
  CHECK(other.open(file.path(), note));
  CHECK_EQUAL(::truncate(file.path().c_str(), 20), 0);
  CHECK_THROWS(other.path(0), std::runtime_error);
  CHECK_THROWS(other.open(file.path(), note), std::runtime_error);  // was removed
}

TEST(unclear_lines_are_left_to_others) {
  const std::string text = "a 1\r\nb c\t-2 \r\n \n\n d\xff e +3\rx\n\xff 4\nlast 2147483648\nend 7";
  LabeledLines lines(text);
  PathList paths;
  std::vector<std::string> unclear;
  while (lines.find_unclear(paths))
    unclear.push_back(std::to_string(lines.number()) + lines.line());
  CHECK(unclear == (std::vector<std::string>{"6x", "7\xff 4", "8last 2147483648"}));
  CHECK_EQUAL(paths.size(), 4);
  CHECK_EQUAL(paths.path(1), "b c");
  CHECK_EQUAL(paths.at(1).label, -2);
  CHECK_EQUAL(paths.path(2), " d\xff e");
  CHECK_EQUAL(paths.path(3), "end");
}

TEST(patterns_match_whole_names) {
  using Match = NamePatterns::Match;
  const NamePatterns patterns({"*.JPG", "a?c", "**x*"}, false);
  for (const char* const name : {".jpg", "b.Jpg", "ABC", "x", "wxyz"})
    CHECK(patterns.match(name) == Match::kYes);
  for (const char* const name : {"", "jpg", "b.jpg2", "ac", "abcd"})
    CHECK(patterns.match(name) == Match::kNo);
  CHECK(patterns.match("\xc3\xa9.jpg") == Match::kUnknown);
  CHECK(NamePatterns({"[a]"}, true).match("a") == Match::kUnknown);
  CHECK(NamePatterns({"A"}, true).match("a") == Match::kNo);
}

TEST(folders_are_listed_in_order) {
  std::string folder = std::filesystem::temp_directory_path() / "folder_names_XXXXXX";
  CHECK(::mkdtemp(folder.data()) != nullptr);
  for (const char* const name : {"b", "B", "\xff", "a"})
    std::fclose(std::fopen((folder + "/" + name).c_str(), "w"));
  CHECK_EQUAL(::mkdir((folder + "/z").c_str(), 0700), 0);
  CHECK_EQUAL(::symlink("z", (folder + "/link").c_str()), 0);
  CHECK_EQUAL(::symlink("nothing", (folder + "/dangling").c_str()), 0);
  FolderNames names;
  std::string files, folders;
  CHECK_EQUAL(names.list(folder, false), 0);
  for (size_t i = 0; i < names.size(); ++i) files.append(names.name(i)).append(" ");
  CHECK_EQUAL(names.list(folder, true), 0);
  for (size_t i = 0; i < names.size(); ++i) folders.append(names.name(i)).append(" ");
  CHECK_EQUAL(::symlink("loop", (folder + "/loop").c_str()), 0);
  CHECK_EQUAL(names.list(folder, true), ELOOP);
  CHECK_EQUAL(names.problem_path(), folder + "/loop");
  for (const char* const name : {"b", "B", "\xff", "a", "link", "dangling", "loop"})
    ::unlink((folder + "/" + name).c_str());
  ::rmdir((folder + "/z").c_str());
  CHECK_EQUAL(::rmdir(folder.c_str()), 0);
  CHECK_EQUAL(names.list(folder, true), ENOENT);
  CHECK_EQUAL(files, "B a b dangling \xff ");
  CHECK_EQUAL(folders, "link z ");
}
