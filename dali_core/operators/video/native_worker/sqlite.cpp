#include "dali_core/operators/video/native_worker/sqlite.hpp"

#include <dlfcn.h>

namespace dali_core {
namespace {

constexpr int kOk = 0, kError = 1, kRow = 100, kDone = 101;
constexpr int kReadWriteCreate = 2 | 4;
constexpr int kMilliseconds = 1000;  // to wait for another program that writes

using Destructor = void (*)(void*);

// Declarations of https://sqlite.org/c3ref/intro.html, which do not change within version 3.
struct Library {
  int (*open_v2)(const char*, void**, int, const char*) = nullptr;
  int (*close_v2)(void*) = nullptr;
  int (*busy_timeout)(void*, int) = nullptr;
  int (*prepare_v2)(void*, const char*, int, void**, const char**) = nullptr;
  int (*bind_text)(void*, int, const char*, int, Destructor) = nullptr;
  int (*bind_int64)(void*, int, long long) = nullptr;
  int (*bind_blob)(void*, int, const void*, int, Destructor) = nullptr;
  int (*step)(void*) = nullptr;
  int (*finalize)(void*) = nullptr;
  long long (*column_int64)(void*, int) = nullptr;
  const void* (*column_blob)(void*, int) = nullptr;
  int (*column_bytes)(void*, int) = nullptr;
  bool is_complete = false;

  Library() {
    void* const library = ::dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    is_complete =
        find(library, "sqlite3_open_v2", open_v2) && find(library, "sqlite3_close_v2", close_v2) &&
        find(library, "sqlite3_busy_timeout", busy_timeout) &&
        find(library, "sqlite3_prepare_v2", prepare_v2) &&
        find(library, "sqlite3_bind_text", bind_text) &&
        find(library, "sqlite3_bind_int64", bind_int64) &&
        find(library, "sqlite3_bind_blob", bind_blob) && find(library, "sqlite3_step", step) &&
        find(library, "sqlite3_finalize", finalize) &&
        find(library, "sqlite3_column_int64", column_int64) &&
        find(library, "sqlite3_column_blob", column_blob) &&
        find(library, "sqlite3_column_bytes", column_bytes);
  }

  template <class Function>
  static bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
  }
};

const Library& sqlite() {
  static const Library library;
  return library;
}

}  // namespace

bool SqliteFile::is_available() { return sqlite().is_complete; }

SqliteFile::SqliteFile(const std::string& path) {
  const int result = sqlite().open_v2(path.c_str(), &file_, kReadWriteCreate, nullptr);
  if (result != kOk) {
    sqlite().close_v2(file_);
    throw SqliteError{result};
  }
  sqlite().busy_timeout(file_, kMilliseconds);
}

SqliteFile::~SqliteFile() {
  finalize();
  sqlite().close_v2(file_);
}

void SqliteFile::prepare(const char* statement) {
  finalize();
  check(sqlite().prepare_v2(file_, statement, -1, &statement_, nullptr));
}

// What is bound lives until the next `step`, so nothing is copied.
void SqliteFile::bind_text(int place, const std::string& text) {
  check(sqlite().bind_text(statement_, place, text.data(), static_cast<int>(text.size()), nullptr));
}

void SqliteFile::bind_number(int place, int64_t number) {
  check(sqlite().bind_int64(statement_, place, number));
}

void SqliteFile::bind_bytes(int place, const std::string& bytes) {
  if (bytes.size() > INT32_MAX) throw SqliteError{kError};
  check(
      sqlite().bind_blob(statement_, place, bytes.data(), static_cast<int>(bytes.size()), nullptr));
}

bool SqliteFile::step() {
  const int result = sqlite().step(statement_);
  if (result != kRow && result != kDone) throw SqliteError{result};
  return result == kRow;
}

int64_t SqliteFile::number(int column) const { return sqlite().column_int64(statement_, column); }

std::string SqliteFile::bytes(int column) const {
  const void* data = sqlite().column_blob(statement_, column);
  const int size = sqlite().column_bytes(statement_, column);
  if (data == nullptr || size <= 0) return "";
  return std::string(static_cast<const char*>(data), static_cast<size_t>(size));
}

void SqliteFile::check(int result) const {
  if (result != kOk) throw SqliteError{result};
}

void SqliteFile::finalize() {
  if (statement_ != nullptr) sqlite().finalize(statement_);
  statement_ = nullptr;
}

}  // namespace dali_core
