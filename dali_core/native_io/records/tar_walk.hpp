// The members of a tar archive: formats v7, ustar, pax and GNU, uncompressed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/native_io/files/compressed_kind.hpp"
#include "dali_core/native_io/records/byte_source.hpp"
#include "dali_core/native_io/records/record.hpp"

namespace dali_core {

class TarWalk {
 public:
  explicit TarWalk(ByteSource& source) : source_(source) {}

  // Lists the regular files of the archive in their order. What is damaged is a member with a
  // problem; the walk continues at the next sound header.
  std::vector<ArchiveMember> members() {
    if (source_.size() == 0) add_problem(0, "an empty file");
    while (!at_end_) step();
    return std::move(members_);
  }

 private:
  static constexpr int64_t kBlock = 512;
  static constexpr int64_t kMaxText = 1 << 20;  // of a name, or of the records of a pax header
  static constexpr int64_t kMaxSize = int64_t{1} << 62;

  using Records = std::map<std::string, std::string>;

  void step() {
    const int64_t left = source_.size() - position_;
    if (left < kBlock) {
      // Zeros fill the file up, as behind the data of the last member.
      if (left > 0 && (position_ == 0 || !is_zero(source_.at(position_, left), left)))
        add_problem(position_, kind_or(left, "a part of a header, at the end of the file"));
      at_end_ = true;
      return;
    }
    uint8_t header[kBlock];
    std::memcpy(header, source_.at(position_, kBlock), kBlock);
    if (is_zero(header, kBlock)) return finish();
    if (!is_sound(header)) {
      add_problem(position_, kind_or(kBlock, "no header of a tar archive"));
      return resume(position_ + kBlock);
    }
    const int64_t size = number(header + 124, 12);
    if (size < 0) {
      add_problem(position_, "a header with an impossible size");
      return resume(position_ + kBlock);
    }
    read_member(header, size);
  }

  void read_member(const uint8_t* header, int64_t size) {
    const int64_t start = position_ + kBlock;
    const char type = static_cast<char>(header[156]);
    switch (type) {
      case 'L':
      case 'x':
      case 'X':
        if (size > kMaxText || !source_.has(start, size)) {
          add_problem(position_, "a header that is longer than the file, or than a name may be");
          return resume(start);
        }
        if (type == 'L')
          long_name_ = until_zero(source_.at(start, size), size);
        else if (!read_records(source_.at(start, size), size))
          add_problem(position_, "a pax header with damaged records");
        return skip(start, size);
      case 'K':
      case 'g':
        return skip(start, size);
      default:
        break;
    }
    ArchiveMember member{name_of(header), start, size, ""};
    const bool is_sparse = type == 'S' || has_prefix("GNU.sparse.");
    if (is_sparse) member.problem = "must not be a sparse file (it is). Pack it without --sparse.";
    if (const auto found = records_.find("size"); found != records_.end()) {
      member.size = decimal(found->second);
      if (member.size < 0) {
        add_problem(position_, "a pax header with an impossible size");
        long_name_.clear();
        records_.clear();
        return resume(start);
      }
    }
    long_name_.clear();
    records_.clear();
    const bool is_file = type == '0' || type == '\0' || type == '7' || type == 'S';
    // Links, devices and folders have no data, whatever their headers say.
    const bool has_data = is_file || type < '1' || type > '6';
    // An old archive marks folders by their names only.
    const bool is_folder = type == '\0' && !member.name.empty() && member.name.back() == '/';
    if (!has_data || is_folder) return skip(start, 0);
    int64_t data = member.size;
    if (type == 'S') {
      // More maps of holes may follow the header, a block each; the last byte but seven says so.
      int64_t at = start;
      bool has_more = header[482] != 0;
      while (has_more && source_.has(at, kBlock)) {
        has_more = source_.at(at, kBlock)[504] != 0;
        at += kBlock;
      }
      member.offset = at;
    }
    if (!source_.has(member.offset, data) && member.problem.empty())
      member.problem = "must be whole (the archive ends before it does). Pack or copy it again.";
    const int64_t offset = member.offset;
    if (is_file) members_.push_back(std::move(member));
    skip(offset, data);
  }

  // What follows the data, which are filled up to a block.
  void skip(int64_t start, int64_t size) {
    const int64_t padding = (kBlock - size % kBlock) % kBlock;
    if (size > kMaxSize || !source_.has(start, size)) {
      at_end_ = true;
    } else if (!source_.has(start, size + padding)) {
      at_end_ = true;  // some programs leave out the padding of the last member
    } else {
      position_ = start + size + padding;
      at_end_ = position_ == source_.size();
    }
  }

  // At a block of zeros. Two of them end the archive, as for other programs; what follows is looked
  // at only to say so. A single one with members behind it is a part that was never written.
  void finish() {
    const int64_t first = position_, second = first + kBlock;
    const bool has_ended =
        source_.has(second, kBlock) && is_zero(source_.at(second, kBlock), kBlock);
    resume(second);
    if (at_end_) return;
    if (!has_ended) return add_problem(first, "zeros, with other members behind them");
    members_.push_back({"", position_, -1,
                        "the archive must end with its last member (it ends at byte " +
                            std::to_string(first) + ", and another header is at byte " +
                            std::to_string(position_) +
                            "). What follows the end is not read. Pass archives one by one, or "
                            "join them with tar --concatenate."});
    at_end_ = true;
  }

  // Looks for the next sound header.
  void resume(int64_t position) {
    long_name_.clear();
    records_.clear();
    for (; source_.has(position, kBlock); position += kBlock) {
      const uint8_t* block = source_.at(position, kBlock);
      if (std::memcmp(block + 257, "ustar", 5) != 0 || !is_sound(block)) continue;
      position_ = position;
      return;
    }
    at_end_ = true;
  }

  // The name of a compressed file, which this is if it begins as one; or else other words.
  const char* kind_or(int64_t size, const char* otherwise) {
    const char* const kind = position_ == 0 ? compressed_kind(source_.at(0, size), size) : nullptr;
    return kind != nullptr ? kind : otherwise;
  }

  void add_problem(int64_t position, const char* what) {
    members_.push_back({"", position, 0,
                        "the archive must be a sound, uncompressed tar file (got " +
                            std::string(what) + ", at byte " + std::to_string(position) +
                            "). Pack or copy it again."});
  }

  std::string name_of(const uint8_t* header) const {
    if (const auto found = records_.find("GNU.sparse.name"); found != records_.end())
      return found->second;
    if (const auto found = records_.find("path"); found != records_.end()) return found->second;
    if (!long_name_.empty()) return long_name_;
    const std::string name = until_zero(header, 100);
    // Another use of these bytes by GNU has another magic number.
    const bool is_posix = std::memcmp(header + 257, "ustar\0", 6) == 0;
    const std::string prefix = is_posix ? until_zero(header + 345, 155) : "";
    return prefix.empty() ? name : prefix + "/" + name;
  }

  bool has_prefix(const char* prefix) const {
    const auto found = records_.lower_bound(prefix);
    return found != records_.end() && found->first.compare(0, std::strlen(prefix), prefix) == 0;
  }

  // Records of a pax header: "LENGTH KEY=VALUE\n", of which the length counts all characters.
  bool read_records(const uint8_t* data, int64_t size) {
    while (size > 0) {
      int64_t length = 0, digits = 0;
      while (digits < size && digits < 10 && data[digits] >= '0' && data[digits] <= '9')
        length = length * 10 + (data[digits++] - '0');
      if (digits == 0 || digits == size || data[digits] != ' ' || length > size ||
          length < digits + 3 || data[length - 1] != '\n')
        return false;
      const std::string record(reinterpret_cast<const char*>(data) + digits + 1,
                               static_cast<size_t>(length - digits - 2));
      const size_t equal = record.find('=');
      if (equal == std::string::npos) return false;
      records_[record.substr(0, equal)] = record.substr(equal + 1);
      data += length;
      size -= length;
    }
    return true;
  }

  static bool is_zero(const uint8_t* bytes, int64_t size) {
    return std::all_of(bytes, bytes + size, [](uint8_t byte) { return byte == 0; });
  }

  static bool is_sound(const uint8_t* header) {
    const int64_t expected = number(header + 148, 8);
    int64_t sum = 0, signed_sum = 0;
    for (int i = 0; i < kBlock; ++i) {
      const uint8_t byte = i >= 148 && i < 156 ? ' ' : header[i];
      sum += byte;
      signed_sum += static_cast<int8_t>(byte);  // as some old programs did
    }
    return expected == sum || expected == signed_sum;
  }

  // An octal number, or where the first bit is set, a binary one; -1 if it is neither.
  static int64_t number(const uint8_t* field, int length) {
    int64_t value = 0;
    if (field[0] & 0x80) {
      if (field[0] != 0x80) return -1;
      for (int i = 1; i < length; ++i) {
        if (value > kMaxSize >> 8) return -1;
        value = value << 8 | field[i];
      }
      return value;
    }
    int i = 0;
    while (i < length && field[i] == ' ') ++i;
    for (; i < length && field[i] >= '0' && field[i] <= '7'; ++i)
      value = value << 3 | (field[i] - '0');
    return i == length || field[i] == ' ' || field[i] == '\0' ? value : -1;
  }

  static int64_t decimal(const std::string& text) {
    int64_t value = 0;
    for (const char letter : text) {
      if (letter < '0' || letter > '9' || value > kMaxSize / 10) return -1;
      value = value * 10 + (letter - '0');
    }
    return text.empty() ? -1 : value;
  }

  static std::string until_zero(const uint8_t* text, int64_t size) {
    const uint8_t* end = std::find(text, text + size, 0);
    return std::string(text, end);
  }

  ByteSource& source_;
  int64_t position_ = 0;
  bool at_end_ = false;
  std::string long_name_;  // what precedes a member says about it
  Records records_;
  std::vector<ArchiveMember> members_;
};

}  // namespace dali_core
