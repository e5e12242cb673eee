// The part of SQLite that is used. It is loaded at run time: without it, indices are not kept.
#pragma once

#include <cstdint>
#include <string>

namespace dali_core {

// A result of SQLite's functions that is not success.
struct SqliteError {
  int code;
  // Whether the file itself is damaged, rather than busy or out of reach.
  bool is_damage() const { return (code & 0xff) == 11 || (code & 0xff) == 26; }
  // Whether other programs hold a lock on it.
  bool is_busy() const { return (code & 0xff) == 5 || (code & 0xff) == 6; }
};

// A connection with one statement at a time.
class SqliteFile {
 public:
  static bool is_available();

  explicit SqliteFile(const std::string& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  void prepare(const char* statement);
  void bind_text(int place, const std::string& text);
  void bind_number(int place, int64_t number);
  void bind_bytes(int place, const std::string& bytes);
  // Whether there is a row, or another one.
  bool step();
  // Of the row; valid until the next statement.
  int64_t number(int column) const;
  std::string bytes(int column) const;

 private:
  void check(int result) const;
  void finalize();

  void* file_ = nullptr;
  void* statement_ = nullptr;
};

}  // namespace dali_core
