#include "dali_core/operators/video/native_worker/index_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "dali_core/native_io/files/cache_file.hpp"
#include "dali_core/operators/video/native_worker/container.hpp"
#include "dali_core/operators/video/native_worker/sqlite.hpp"

namespace dali_core {
namespace {

constexpr char kFile[] = "indices-5.sqlite";  // must be the name in worker/index_cache.py

// Like os.path.abspath: without a look at links.
std::string absolute_path(const std::string& path) {
  std::string whole = path;
  if (path.empty() || path[0] != '/') {
    std::error_code error;
    whole = std::filesystem::current_path(error).string() + "/" + path;
  }
  std::vector<std::string> parts;
  for (size_t at = 0; at < whole.size();) {
    const size_t end = std::min(whole.find('/', at), whole.size());
    const std::string part = whole.substr(at, end - at);
    at = end + 1;
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  // Two slashes at the start are kept, as POSIX allows them a meaning of their own.
  const bool has_two = whole.compare(0, 2, "//") == 0 && whole.compare(0, 3, "///") != 0;
  std::string joined = has_two ? "/" : "";
  for (const std::string& part : parts) joined += "/" + part;
  return joined.empty() || joined == "/" ? joined + "/" : joined;
}

// Names that are no text are in no database.
bool is_utf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const size_t more = lead < 0x80 ? 0 : lead < 0xc2 ? 4 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (lead > 0xf4 || more == 4 || i + more >= text.size()) return false;
    for (size_t k = 1; k <= more; ++k)
      if ((static_cast<uint8_t>(text[i + k]) & 0xc0) != 0x80) return false;
    const auto second = more > 0 ? static_cast<uint8_t>(text[i + 1]) : uint8_t{0};
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
      return false;
    i += more + 1;
  }
  return true;
}

bool is_there(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

FileKey::FileKey(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) throw VideoFileError(std::strerror(errno));
  this->path = absolute_path(path);
  size = status.st_size;
  changed = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

IndexCache::IndexCache(const std::string& folder) : folder_(folder), file_(folder + "/" + kFile) {}

bool IndexCache::is_usable(const FileKey& key) const {
  return !folder_.empty() && !is_given_up_ && is_utf8(key.path) && SqliteFile::is_available() &&
         is_private_place(folder_.c_str(), file_.c_str());
}

void IndexCache::handle(const SqliteError& error) const {
  // Waiting for every file would cost more than what is kept is worth.
  if (error.is_busy()) is_given_up_ = true;
  if (error.is_damage()) ::unlink(file_.c_str());
}

std::optional<PackedIndex> IndexCache::load(const FileKey& key) const {
  if (!is_usable(key) || !is_there(file_)) return std::nullopt;
  try {
    SqliteFile file(file_);
    file.prepare("SELECT size, changed, data FROM indices WHERE path = ?");
    file.bind_text(1, key.path);
    if (!file.step() || file.number(0) != key.size || file.number(1) != key.changed)
      return std::nullopt;
    const std::string data = file.bytes(2);
    return PackedIndex::from_bytes(data.data(), data.size());
  } catch (const SqliteError& error) {
    handle(error);
    return std::nullopt;
  }
}

void IndexCache::store(const FileKey& key, const PackedIndex& index) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  if (!is_usable(key)) return;
  try {
    SqliteFile file(file_);
    file.prepare(
        "CREATE TABLE IF NOT EXISTS indices "
        "(path TEXT PRIMARY KEY, size INTEGER, changed INTEGER, data BLOB)");
    file.step();
    const std::string data = index.to_bytes();
    file.prepare("INSERT OR REPLACE INTO indices VALUES (?, ?, ?, ?)");
    file.bind_text(1, key.path);
    file.bind_number(2, key.size);
    file.bind_number(3, key.changed);
    file.bind_bytes(4, data);
    file.step();
  } catch (const SqliteError& error) {
    handle(error);
  }
}

}  // namespace dali_core
