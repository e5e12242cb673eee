// Records and archive members that walks over files find, and numbers as such files store them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace dali_core {

struct Record {
  int64_t offset = 0;
  int64_t size = 0;  // with everything that frames the data
  std::string problem;
};

// A file in an archive, or an entry of a database.
struct ArchiveMember {
  std::string name;              // empty where damage makes it unknown
  int64_t offset = 0, size = 0;  // a size of -1 is what follows the end of the archive
  std::string problem;           // what is wrong with it, if it cannot be read
};

// Data inside of a record.
struct RecordData {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

// Little endian, as the processors that this library is built for.
template <typename T>
T number_at(const uint8_t* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

}  // namespace dali_core
