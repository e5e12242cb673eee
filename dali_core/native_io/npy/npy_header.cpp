#include "dali_core/native_io/npy/npy_header.hpp"
#include "dali_core/native_io/files/compressed_kind.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dali_core {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr int64_t kMagicBytes = 6;
// Of the text: NumPy itself reads no more than 10,000 characters, and numbers need far fewer.
constexpr int64_t kMaxText = 1 << 16;

[[noreturn]] void refuse(const std::string& rule, const std::string& got) {
  throw std::runtime_error("the file must be an array as numpy.save writes it: " + rule + " (got " +
                           got + "). Write the file again.");
}

// The text of a header: a dictionary of Python with a text, a truth value and a tuple of integers.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : text_(text) {}

  bool take(char wanted) {
    skip_blanks();
    if (place_ == text_.size() || text_[place_] != wanted) return false;
    ++place_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) refuse(std::string("'") + wanted + "' in its header", rest());
  }

  std::string_view quoted() {
    skip_blanks();
    const char quote = place_ < text_.size() ? text_[place_] : 0;
    if (quote != '\'' && quote != '"') refuse("a quoted text in its header", rest());
    const size_t end = text_.find(quote, place_ + 1);
    if (end == std::string_view::npos) refuse("a quoted text that ends", rest());
    const std::string_view result = text_.substr(place_ + 1, end - place_ - 1);
    place_ = end + 1;
    return result;
  }

  bool truth() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(place_, word.size()) != word) continue;
      place_ += word.size();
      return value;
    }
    refuse("True or False in its header", rest());
  }

  int64_t extent() {
    skip_blanks();
    int64_t value = 0;
    const size_t begin = place_;
    for (; place_ < text_.size() && text_[place_] >= '0' && text_[place_] <= '9'; ++place_) {
      value = 10 * value + (text_[place_] - '0');
      if (value > kMaxExtent) refuse("extents of at most 2^47", rest());
    }
    if (place_ == begin) refuse("extents that are not negative", rest());
    if (text_[begin] == '0' && place_ > begin + 1) refuse("extents without leading zeros", rest());
    // Python 2 wrote long integers with a letter.
    if (place_ < text_.size() && text_[place_] == 'L') ++place_;
    return value;
  }

  void expect_end() {
    skip_blanks();
    if (place_ != text_.size()) refuse("nothing after the header", rest());
  }

  std::string rest() const {
    std::string shown;
    for (const char letter : text_.substr(place_, 24))
      shown += letter >= ' ' && letter <= '~' ? letter : '?';
    return "\"" + shown + "\"";
  }

 private:
  void skip_blanks() {
    while (place_ < text_.size() && std::strchr(" \t\r\n", text_[place_]) && text_[place_])
      ++place_;
  }

  std::string_view text_;
  size_t place_ = 0;
};

// NumPy's names: byte order, kind, bytes of an element.
void read_type(HeaderText& text, NpyHeader& header) {
  if (text.take('['))
    refuse("numbers, and no records", "the type [" + text.rest() + "). Save each field itself");
  const std::string_view name = text.quoted();
  const bool has_order = !name.empty() && std::strchr("<>|=", name[0]) != nullptr;
  const std::string_view kind = name.substr(has_order ? 1 : 0);
  header.is_big_endian = has_order && name[0] == '>';
  static constexpr struct {
    const char* name;
    DataType type;
  } known[] = {
      {"u1", DataType::kUInt8},  {"u2", DataType::kUInt16},  {"u4", DataType::kUInt32},
      {"u8", DataType::kUInt64}, {"i1", DataType::kInt8},    {"i2", DataType::kInt16},
      {"i4", DataType::kInt32},  {"i8", DataType::kInt64},   {"f2", DataType::kFloat16},
      {"f4", DataType::kFloat},  {"f8", DataType::kFloat64}, {"b1", DataType::kBool},
      {"?", DataType::kBool},
  };
  for (const auto& entry : known)
    if (kind == entry.name) header.type = entry.type;
  if (header.type != DataType::kNone) return;
  const std::string shown(name.substr(0, 24));
  if (kind.substr(0, 1) == "O")
    refuse("numbers, and no pickled objects, which could run any code", "the type '" + shown + "'");
  refuse("integers, floating point numbers of up to 64 bits, or truth values",
         "the type '" + shown + "'");
}

void read_shape(HeaderText& text, NpyHeader& header) {
  text.expect('(');
  while (!text.take(')')) {
    if (header.shape.ndim == kMaxDims)
      refuse("at most " + std::to_string(kMaxDims) + " dimensions", "more");
    header.shape.push_back(text.extent());
    if (!text.take(',')) {
      text.expect(')');
      break;
    }
  }
}

int64_t little_endian(const uint8_t* bytes, int count) {
  int64_t value = 0;
  for (int i = 0; i < count; ++i) value |= static_cast<int64_t>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

int64_t npy_header_bytes(const uint8_t* bytes, int64_t size) {
  if (const char* const kind = compressed_kind(bytes, size))
    refuse("\\x93NUMPY at its beginning", kind);
  if (size < kNpyPrefix || std::memcmp(bytes, kMagic, kMagicBytes) != 0)
    refuse("\\x93NUMPY at its beginning",
           size < kNpyPrefix ? std::to_string(size) + " bytes" : "something else");
  const int version = bytes[kMagicBytes];
  const int minor = bytes[kMagicBytes + 1];
  if (version < 1 || version > 3 || minor != 0)
    refuse("format version 1.0, 2.0 or 3.0", std::to_string(version) + "." + std::to_string(minor));
  const int width = version == 1 ? 2 : 4;
  const int64_t text = little_endian(bytes + kMagicBytes + 2, width);
  if (text > kMaxText) refuse("a header of at most 65536 characters", std::to_string(text));
  return kMagicBytes + 2 + width + text;
}

NpyHeader parse_npy_header(const uint8_t* bytes, int64_t size, int64_t file_size) {
  NpyHeader header;
  header.data_offset = npy_header_bytes(bytes, size);
  if (header.data_offset > size)
    refuse("a complete header", "a file of " + std::to_string(file_size) + " bytes");
  const int64_t begin = kMagicBytes + 2 + (bytes[kMagicBytes] == 1 ? 2 : 4);
  HeaderText text({reinterpret_cast<const char*>(bytes) + begin,
                   static_cast<size_t>(header.data_offset - begin)});
  bool has_type = false, has_order = false, has_shape = false;
  text.expect('{');
  while (!text.take('}')) {
    const std::string_view key = text.quoted();
    text.expect(':');
    bool& is_known = key == "descr" ? has_type : key == "fortran_order" ? has_order : has_shape;
    if (is_known || (&is_known == &has_shape && key != "shape"))
      refuse("descr, fortran_order and shape once each in its header", std::string(key));
    is_known = true;
    if (&is_known == &has_type)
      read_type(text, header);
    else if (&is_known == &has_order)
      header.is_fortran_order = text.truth();
    else
      read_shape(text, header);
    if (!text.take(',')) {
      text.expect('}');
      break;
    }
  }
  text.expect_end();
  if (!has_type || !has_order || !has_shape)
    refuse("descr, fortran_order and shape in its header", "only some of them");
  if (!is_possible(header.shape, header.type))
    refuse("an array that fits into memory", "shape " + to_string(header.shape));
  const int64_t data = header.shape.num_elements() * size_of(header.type);
  if (file_size - header.data_offset < data)
    refuse(
        "all elements of shape " + to_string(header.shape),
        std::to_string(file_size - header.data_offset) + " of " + std::to_string(data) + " bytes");
  return header;
}

}  // namespace dali_core
