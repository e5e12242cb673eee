// Paths of many files: kept as bytes, read from damaged bytes, from lines of text and from folders.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "check.hpp"
#include "dali_core/kernels/files/folder_names.hpp"
#include "dali_core/kernels/files/labeled_lines.hpp"
#include "dali_core/kernels/files/path_list.hpp"

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

// Reads everything that there is; a wrong offset is for the sanitizer to find.
size_t bytes_of(const PathList& paths) {
  size_t bytes = 0;
  for (int64_t i = 0; i < paths.size(); ++i)
    bytes += paths.path(i).size() + static_cast<size_t>(paths.label(i) != 0);
  for (int64_t i = 0; i < paths.num_folders(); ++i) bytes += paths.prefix(i).size();
  return bytes;
}

}  // namespace

TEST(paths_begin_with_their_folders) {
  const PathList paths = some_paths();
  CHECK_EQUAL(paths.size(), 3);
  CHECK_EQUAL(paths.path(1), "a/2.jpg");
  CHECK_EQUAL(paths.path(2), "c/3.jpg");
  CHECK_EQUAL(paths.label(2), 2);
  CHECK_EQUAL(paths.prefix(1), "empty/");
  PathList listed;
  listed.add("x", -1);
  CHECK_EQUAL(listed.path(0), "x");
}

TEST(damaged_bytes_are_no_paths_or_sound_ones) {
  const std::string bytes = some_paths().to_bytes();
  PathList same;
  CHECK(same.from_bytes(bytes));
  CHECK_EQUAL(same.to_bytes(), bytes);
  int refused = 0;
  for (size_t place = 0; place < bytes.size(); ++place) {
    PathList cut;
    CHECK(!cut.from_bytes(std::string_view(bytes).substr(0, place)));
    for (const int value : {0x00, 0x01, 0x02, 0x05, 0x2e, 0x2f, 0x7f, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(value);
      PathList paths;
      if (paths.from_bytes(changed))
        CHECK(bytes_of(paths) < 2 * bytes.size());
      else
        ++refused;
    }
  }
  CHECK(refused > 500);
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
  CHECK_EQUAL(paths.label(1), -2);
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
