// Scans of progressive files: their data and restart intervals, and the coefficients that several
// scans complete.
#include "dali_core/kernels/jpeg/progressive_scans.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "check.hpp"

using namespace dali_core;

namespace {

using Bytes = std::vector<uint8_t>;

// Exactly as large as needed, so that a sanitizer detects reads out of bounds.
struct ExactFile {
  explicit ExactFile(const Bytes& bytes, size_t size) : memory(new uint8_t[size]) {
    std::copy_n(bytes.data(), size, memory.get());
    encoded = EncodedImage{memory.get(), size};
  }
  explicit ExactFile(const Bytes& bytes) : ExactFile(bytes, bytes.size()) {}

  std::unique_ptr<uint8_t[]> memory;
  EncodedImage encoded{};
};

// Entropy-coded data: bits with stuffed bytes.
class DataWriter {
 public:
  explicit DataWriter(Bytes& out) : out_(out) {}
  void put(int value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      byte_ = byte_ << 1 | (value >> i & 1);
      if (++used_ < 8) continue;
      out_.push_back(static_cast<uint8_t>(byte_));
      if (byte_ == 0xFF) out_.push_back(0);
      byte_ = used_ = 0;
    }
  }
  void finish() {
    while (used_ > 0) put(1, 1);
  }

 private:
  Bytes& out_;
  int byte_ = 0, used_ = 0;
};

// Where each symbol has a code of 8 bits.
constexpr int kSymbols[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A,
                            0x10, 0x11, 0x12, 0x13, 0x20, 0x21, 0x22, 0x31, 0x41, 0x51, 0xF0};

int code_of(int symbol) {
  const auto* const found = std::find(std::begin(kSymbols), std::end(kSymbols), symbol);
  CHECK(found != std::end(kSymbols));
  return static_cast<int>(found - kSymbols);
}

void add(Bytes& file, std::initializer_list<int> bytes) {
  for (const int byte : bytes) file.push_back(static_cast<uint8_t>(byte));
}

// A grey image, up to its first scan.
Bytes file_of(int height, int width, int restart_interval = 0) {
  Bytes file;
  add(file, {0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0});
  file.insert(file.end(), 64, 1);
  add(file, {0xFF, 0xC2, 0, 11, 8, 0, height, 0, width, 1, 1, 0x11, 0});
  constexpr int kSizes = 11, kCount = sizeof kSymbols / sizeof *kSymbols;
  for (const int table : {0x00, 0x10}) {
    const int count = table == 0 ? kSizes : kCount;
    add(file, {0xFF, 0xC4, 0, 19 + count, table, 0, 0, 0, 0, 0, 0, 0, count});
    file.insert(file.end(), 8, 0);
    for (int i = 0; i < count; ++i) file.push_back(static_cast<uint8_t>(kSymbols[i]));
  }
  if (restart_interval > 0) add(file, {0xFF, 0xDD, 0, 4, 0, restart_interval});
  return file;
}

void add_scan(Bytes& file, int first, int last, int bits) {
  add(file, {0xFF, 0xDA, 0, 8, 1, 1, 0, first, last, bits});
}

bool is_read(const Bytes& file, size_t size, ProgressiveScans& scans) {
  const ExactFile copy(file, size);
  HuffmanJpegFile header;
  return header.read(copy.encoded) && header.is_progressive && scans.read(header, copy.encoded, 1);
}

bool is_read(const Bytes& file) {
  const std::unique_ptr<ProgressiveScans> scans(new ProgressiveScans);
  return is_read(file, file.size(), *scans);
}

int size_of(int magnitude) {
  int size = 0;
  for (; magnitude >> size > 0; ++size) continue;
  return size;
}

void put_signed(DataWriter& data, int value, int size) {
  data.put(value > 0 ? value : value + (1 << size) - 1, size);
}

// Three blocks: one coefficient in the first and the last, and its second bit.
constexpr int kColumns = 3;

Bytes small_file(int run_symbol, int run_bits, int run_size) {
  Bytes file = file_of(8, 8 * kColumns);
  add_scan(file, 0, 0, 0x00);
  DataWriter means(file);
  for (int i = 0; i < kColumns; ++i) means.put(code_of(0), 8);
  means.finish();
  add_scan(file, 1, 63, 0x01);
  DataWriter first(file);
  first.put(code_of(0x21), 8);  // the third coefficient of the band
  first.put(1, 1);
  first.put(code_of(run_symbol), 8);  // the end of this and of more
  first.put(run_bits, run_size);
  first.finish();
  add_scan(file, 1, 63, 0x10);
  DataWriter second(file);
  second.put(code_of(0x31), 8);  // three zeros, and between them the one that is known
  second.put(0, 1);
  second.put(1, 1);
  second.put(code_of(0x10), 8);  // two blocks end
  second.put(0, 1);
  second.put(code_of(0x00), 8);
  second.finish();
  add(file, {0xFF, 0xD9});
  return file;
}

}  // namespace

TEST(a_coefficient_gets_its_bits) {
  const Bytes file = small_file(0x10, 1, 1);
  const std::unique_ptr<ProgressiveScans> scans(new ProgressiveScans);
  CHECK(is_read(file, file.size(), *scans));
  const int16_t* const block = scans->blocks(0, 0);
  for (int k = 0; k < 64; ++k) CHECK_EQUAL(int{block[kJpegOrder[k]]}, k == 3 ? 3 : k == 5 ? -1 : 0);
  CHECK_EQUAL(scans->known(0, 0)[0], (uint64_t{1} << 60) | (uint64_t{1} << 58));
  for (int i = 1; i < kColumns; ++i) CHECK_EQUAL(scans->known(0, 0)[i], uint64_t{0});
}

TEST(runs_end_with_the_scan) {
  CHECK(!is_read(small_file(0x10, 0, 1)));  // one block less: its symbol is not there
  CHECK(!is_read(small_file(0x20, 0, 2)));  // one block more
  const Bytes file = small_file(0x10, 1, 1);
  const std::unique_ptr<ProgressiveScans> scans(new ProgressiveScans);
  for (size_t size = 2; size < file.size(); ++size) CHECK(!is_read(file, size, *scans));
}

TEST(scans_come_in_their_order) {
  struct Band {
    int first, last, bits;
  };
  // Scans of one block without anything.
  const auto is_sound = [](std::initializer_list<Band> bands) {
    Bytes file = file_of(8, 8);
    for (const Band& band : bands) {
      add_scan(file, band.first, band.last, band.bits);
      DataWriter data(file);
      if (band.first > 0 || band.bits < 16) data.put(code_of(0), 8);
      if (band.first == 0 && band.bits >= 16) data.put(0, 1);
      data.finish();
    }
    add(file, {0xFF, 0xD9});
    return is_read(file);
  };
  CHECK(is_sound({{0, 0, 0}, {1, 63, 0}}));
  CHECK(is_sound({{0, 0, 1}, {6, 63, 0}, {1, 5, 2}, {1, 5, 0x21}, {0, 0, 0x10}, {1, 5, 0x10}}));
  CHECK(!is_sound({{0, 0, 0}}));                          // incomplete
  CHECK(!is_sound({{0, 0, 1}, {1, 63, 0}}));              // without the last bit
  CHECK(!is_sound({{0, 0, 0}, {1, 62, 0}}));              // without the last coefficient
  CHECK(!is_sound({{1, 63, 0}, {0, 0, 0}}));              // the mean comes first
  CHECK(!is_sound({{0, 0, 0}, {1, 63, 0}, {1, 63, 0}}));  // twice
  CHECK(!is_sound({{0, 0, 0}, {1, 63, 2}, {1, 63, 0x10}}));
  CHECK(!is_sound({{0, 0, 0}, {1, 63, 0x10}}));
  CHECK(!is_sound({{0, 0, 0}, {1, 63, 2}, {1, 63, 0x20}}));
  CHECK(!is_sound({{0, 63, 0}}));
  CHECK(!is_sound({{0, 0, 0}, {1, 64, 0}}));
  CHECK(!is_sound({{0, 0, 0}, {5, 4, 0}, {1, 63, 0}}));
  CHECK(!is_sound({{0, 0, 6}, {1, 63, 0}}));  // more bits than fit
}

TEST(coefficients_are_those_that_were_written) {
  std::minstd_rand random(7);
  const auto draw = [&random](int limit) { return static_cast<int>(random() >> 8) % limit; };
  for (int round = 0; round < 40; ++round) {
    const int columns = 1 + draw(5), rows = 1 + draw(4), interval = draw(2) * (1 + draw(4));
    const int num_blocks = columns * rows;
    std::vector<std::vector<int>> blocks(static_cast<size_t>(num_blocks), std::vector<int>(64));
    for (std::vector<int>& block : blocks) {
      block[0] = draw(200) - 100;
      for (int i = draw(12); i > 0; --i) block[static_cast<size_t>(1 + draw(63))] = draw(127) - 63;
    }
    Bytes file = file_of(8 * rows - draw(8), 8 * columns - draw(8), interval);
    const auto scan = [&](int first, int last, int higher, int lowest, const auto& write) {
      add_scan(file, first, last, higher << 4 | lowest);
      for (int i = 0; i < num_blocks;) {
        DataWriter data(file);
        const int end = interval == 0 ? num_blocks : std::min(num_blocks, i + interval);
        for (int previous = 0; i < end; ++i)
          previous = write(data, blocks[static_cast<size_t>(i)], previous);
        data.finish();
        if (i < num_blocks) add(file, {0xFF, 0xD0 + (i / interval - 1) % 8});
      }
    };
    scan(0, 0, 0, 1, [](DataWriter& data, const std::vector<int>& block, int previous) {
      const int value = block[0] >> 1, size = size_of(std::abs(value - previous));
      data.put(code_of(size), 8);
      if (size > 0) put_signed(data, value - previous, size);
      return value;
    });
    scan(0, 0, 1, 0, [](DataWriter& data, const std::vector<int>& block, int) {
      data.put(block[0] & 1, 1);
      return 0;
    });
    // A coefficient after the other in bands of their own, so that no zeros are counted.
    for (int k = 1; k < 64; ++k) {
      const size_t at = static_cast<size_t>(k);
      scan(k, k, 0, 1, [at](DataWriter& data, const std::vector<int>& block, int) {
        const int size = size_of(std::abs(block[at]) >> 1);
        data.put(code_of(size), 8);
        const int half = std::abs(block[at]) >> 1;
        if (size > 0) put_signed(data, block[at] < 0 ? -half : half, size);
        return 0;
      });
      scan(k, k, 1, 0, [at](DataWriter& data, const std::vector<int>& block, int) {
        const int value = block[at], magnitude = std::abs(value);
        data.put(code_of(magnitude == 1 ? 1 : 0), 8);
        if (magnitude == 1) data.put(value > 0 ? 1 : 0, 1);
        if (magnitude > 1) data.put(magnitude & 1, 1);
        return 0;
      });
    }
    add(file, {0xFF, 0xD9});
    const std::unique_ptr<ProgressiveScans> scans(new ProgressiveScans);
    CHECK(is_read(file, file.size(), *scans));
    for (int i = 0; i < num_blocks; ++i) {
      const std::vector<int>& expected = blocks[static_cast<size_t>(i)];
      uint64_t known = 0;
      for (size_t k = 0; k < 64; ++k) {
        const int16_t* const found = scans->blocks(0, i / columns) + 64 * (i % columns);
        CHECK_EQUAL(int{found[kJpegOrder[k]]}, expected[k]);
        if (k > 0 && expected[k] != 0) known |= uint64_t{1} << (63 - k);
      }
      CHECK_EQUAL(scans->known(0, i / columns)[i % columns], known);
    }
  }
}

TEST(data_of_a_scan) {
  const auto is_taken = [](const Bytes& bytes, int64_t groups, int64_t interval, size_t end) {
    JpegScanData data;
    size_t position = 0;
    const ExactFile file(bytes);
    return data.take(file.encoded, position, groups, interval) && position == end;
  };
  CHECK(is_taken({1, 0xFF, 0, 2, 0xFF, 0xD9}, 9, 0, 4));
  CHECK(is_taken({1, 0xFF, 0xD0, 2, 0xFF, 0xD1, 3, 0xFF, 0xC4}, 5, 2, 7));
  CHECK(!is_taken({1, 0xFF, 0xD0, 2, 0xFF, 0xD9}, 5, 2, 4));                 // one is missing
  CHECK(!is_taken({1, 0xFF, 0xD1, 2, 0xFF, 0xD0, 3, 0xFF, 0xC4}, 5, 2, 7));  // another order
  CHECK(!is_taken({1, 2}, 1, 0, 2));
  CHECK(!is_taken({1, 0xFF}, 1, 0, 1));

  const ExactFile file({0x80, 0xFF, 0xD0, 0x40, 0xFF, 0xD9});
  JpegScanData data;
  size_t position = 0;
  CHECK(data.take(file.encoded, position, 2, 1));
  JpegBits bits = data.start();
  CHECK(!data.start_next_interval(bits));
  bits.refill();
  CHECK_EQUAL(bits.peek(2), uint32_t{2});
  bits.consume(2);
  CHECK(data.start_next_interval(bits));
  bits.refill();
  CHECK_EQUAL(bits.peek(2), uint32_t{1});
  bits.consume(8);
  CHECK(data.is_at_end(bits));
  CHECK(!data.is_beyond_interval(bits));
  CHECK(!data.start_next_interval(bits));
  bits.consume(1);
  CHECK(data.is_beyond_interval(bits));
}
