// The parts of our own JPEG decoder: codes, the inverse transform, rows of samples.
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "check.hpp"
#include "dali_core/kernels/jpeg/huffman_jpeg_file.hpp"
#include "dali_core/kernels/jpeg/jpeg_huffman.hpp"
#include "dali_core/kernels/jpeg/jpeg_inverse_dct.hpp"
#include "dali_core/kernels/jpeg/jpeg_rows.hpp"
#include "dali_core/kernels/jpeg/jpeg_rules.hpp"

using namespace dali_core;

namespace {

using Bytes = std::vector<uint8_t>;

// Exactly as large as needed, so that a sanitizer detects reads out of bounds.
std::unique_ptr<uint8_t[]> noise(size_t count, unsigned seed) {
  std::unique_ptr<uint8_t[]> bytes(new uint8_t[count]);
  std::minstd_rand random(seed);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(random() >> 8);
  return bytes;
}

// All symbols of coefficients; `longest` codes have 16 bits.
HuffmanDefinition definition_of_coefficients() {
  HuffmanDefinition definition;
  definition.is_defined = true;
  const int counts[17] = {0, 0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125};
  Bytes symbols = {0x01, 0x02, 0x00, 0xF0};
  for (int symbol = 0; symbol < 256; ++symbol) {
    const int size = symbol & 15;
    if (size >= 1 && size <= 10 && symbol > 2) symbols.push_back(static_cast<uint8_t>(symbol));
  }
  int total = 0;
  for (int length = 1; length <= 16; ++length) {
    definition.counts[length] = static_cast<uint8_t>(counts[length]);
    total += counts[length];
  }
  CHECK_EQUAL(total, static_cast<int>(symbols.size()));
  std::copy(symbols.begin(), symbols.end(), definition.symbols);
  return definition;
}

struct Code {
  uint32_t bits = 0;
  int length = 0;
};

std::vector<Code> codes_of(const HuffmanDefinition& definition) {
  std::vector<Code> codes(256);
  uint32_t code = 0;
  int place = 0;
  for (int length = 1; length <= 16; ++length, code <<= 1)
    for (int i = 0; i < definition.counts[length]; ++i)
      codes[definition.symbols[place++]] = {code++, length};
  return codes;
}

class BitWriter {
 public:
  void put(uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      if (used_ % 8 == 0) bytes_.push_back(0);
      bytes_.back() = static_cast<uint8_t>(bytes_.back() | (value >> i & 1) << (7 - used_ % 8));
      ++used_;
    }
  }
  int64_t used() const { return used_; }
  Bytes padded() const {
    Bytes result = bytes_;
    result.resize(result.size() + 16);
    return result;
  }

 private:
  Bytes bytes_;
  int64_t used_ = 0;
};

}  // namespace

TEST(symbols_are_those_that_were_written) {
  const HuffmanDefinition definition = definition_of_coefficients();
  const std::vector<Code> codes = codes_of(definition);
  HuffmanTable table;
  CHECK(table.build(definition, HuffmanUse::kCoefficients));
  table.build_skipping();
  std::minstd_rand random(5);
  std::vector<std::pair<int, int>> written;  // advance and value
  BitWriter bits;
  for (int i = 0; i < 5000; ++i) {
    const int symbol = definition.symbols[random() % (i % 3 == 0 ? 162 : 8)];
    const int size = symbol & 15;
    bits.put(codes[symbol].bits, codes[symbol].length);
    int value = 0;
    if (size > 0) {
      value = (1 << (size - 1)) + static_cast<int>(random() % (1u << (size - 1)));
      if (random() & 64) value = -value;
      bits.put(static_cast<uint32_t>(value > 0 ? value : value + (1 << size) - 1), size);
    }
    const int advance = symbol == 0 ? 128 : (symbol >> 4) + 1;
    written.emplace_back(advance, value);
  }
  const Bytes bytes = bits.padded();
  JpegBits reader(bytes.data());
  int64_t all = 0;
  for (const auto& [advance, value] : written) {
    reader.refill();
    const uint32_t entry = table.symbol(reader);
    CHECK((entry & huffman_entry::kIsUnknown) == 0);
    CHECK_EQUAL(huffman_entry::advance(entry), advance);
    CHECK_EQUAL(huffman_entry::value(entry), value);
    reader.consume(entry);
    all += advance;
  }
  CHECK_EQUAL(reader.position(bytes.data()), bits.used());

  // The same, several symbols at a time.
  JpegBits skipper(bytes.data());
  int64_t skipped = 0;
  int looks = 0;
  while (skipper.position(bytes.data()) < bits.used()) {
    skipper.refill();
    uint32_t entry = table.skip_entries()[skipper.peek(HuffmanTable::kLookupBits)];
    if (!HuffmanTable::is_whole(entry)) entry = table.symbol(skipper);
    // At the end, the padding decodes as symbols.
    if (skipper.position(bytes.data()) + HuffmanTable::kLookupBits > bits.used())
      entry = table.symbol(skipper);
    skipper.consume(entry);
    skipped += huffman_entry::advance(entry);
    ++looks;
  }
  CHECK_EQUAL(skipper.position(bytes.data()), bits.used());
  CHECK_EQUAL(skipped, all);
  CHECK(looks < 4600);
}

TEST(definitions_that_are_not_sound) {
  const auto is_sound = [](std::initializer_list<std::pair<int, int>> counts,
                           HuffmanUse use = HuffmanUse::kCoefficients) {
    HuffmanDefinition definition;
    for (const auto& [length, count] : counts)
      definition.counts[length] = static_cast<uint8_t>(count);
    std::fill(std::begin(definition.symbols), std::end(definition.symbols), uint8_t{17});
    const std::unique_ptr<HuffmanTable> table(new HuffmanTable);
    return table->build(definition, use);
  };
  CHECK(is_sound({{1, 1}, {2, 1}}));
  CHECK(is_sound({{16, 255}}));
  CHECK(!is_sound({}));
  CHECK(!is_sound({{1, 2}}));          // all ones
  CHECK(!is_sound({{1, 3}}));          // too many
  CHECK(!is_sound({{2, 3}, {3, 2}}));  // all ones
  CHECK(!is_sound({{8, 255}, {16, 255}}));
  CHECK(!is_sound({{12, 255}, {11, 255}, {10, 255}}));
  CHECK(!is_sound({{1, 1}}, HuffmanUse::kDifferences));  // a difference of 17 bits
}

TEST(unknown_codes) {
  HuffmanDefinition definition;
  definition.counts[3] = 1;
  definition.counts[14] = 1;
  definition.symbols[0] = 0x51;
  definition.symbols[1] = 0x5B;  // of 11 bits
  const std::unique_ptr<HuffmanTable> table(new HuffmanTable);
  CHECK(table->build(definition, HuffmanUse::kCoefficients));
  for (const uint8_t first : {0xFF, 0x80, 0x20}) {
    Bytes bytes(16, first);
    JpegBits bits(bytes.data());
    bits.refill();
    CHECK((table->symbol(bits) & huffman_entry::kIsUnknown) != 0);
  }
}

TEST(inverse_transform_is_that_of_plain_arithmetic) {
  std::minstd_rand random(9);
  const auto draw = [&random](int limit) { return static_cast<int>(random() >> 4) % limit; };
  constexpr int kMaxBlocks = 7;
  int safe = 0;
  for (int round = 0; round < 300; ++round) {
    const int num_blocks = 1 + draw(kMaxBlocks);
    const size_t with_spare = static_cast<size_t>(num_blocks) + 1;
    std::vector<int16_t> blocks(64 * with_spare), copy;
    Bytes counts(with_spare, 1);
    const int largest = 1 << (round % 15);
    uint16_t steps[64];
    for (uint16_t& step : steps)
      step = static_cast<uint16_t>(1 + draw(round % 7 == 0 ? 65535 : round % 3 == 0 ? 255 : 8));
    counts.back() = 0;
    for (int block = 0; block < num_blocks; ++block) {
      const int kinds[] = {1, 2, 5, 10, 11, 64};
      const int count = kinds[draw(6)];
      counts[static_cast<size_t>(block)] = static_cast<uint8_t>(count);
      for (int i = 0; i < count; ++i)
        if (draw(4) > 0)
          blocks[64 * block + kJpegOrder[i]] = static_cast<int16_t>(draw(2 * largest) - largest);
    }
    copy = blocks;
    const int64_t stride = 8 * static_cast<int64_t>(with_spare);
    Bytes found(static_cast<size_t>(8 * stride)), expected(found.size());
    Bytes other_counts = counts;
    const bool is_safe =
        inverse_dct_row(blocks.data(), counts.data(), num_blocks, steps, found.data(), stride);
    CHECK_EQUAL(plain_inverse_dct_row(copy.data(), other_counts.data(), num_blocks, steps,
                                      expected.data(), stride),
                is_safe);
    CHECK(std::all_of(blocks.begin(), blocks.end(), [](int16_t one) { return one == 0; }));
    if (!is_safe) continue;
    ++safe;
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8 * num_blocks; ++x)
        CHECK_EQUAL(int{found[static_cast<size_t>(y * stride + x)]},
                    int{expected[static_cast<size_t>(y * stride + x)]});
  }
  CHECK(safe > 100);
  CHECK(safe < 300);
}

TEST(rows_are_interpolated) {
  for (const int count : {1, 2, 3, 15, 16, 17, 33, 100}) {
    const size_t size = static_cast<size_t>(count);
    const auto nearer = noise(size + 2, 1), farther = noise(size + 2, 2);
    const uint8_t* const in = nearer.get() + 1;
    const uint8_t* const far_row = farther.get() + 1;
    const std::unique_ptr<uint8_t[]> wide(new uint8_t[2 * size]), both(new uint8_t[2 * size]),
        upper(new uint8_t[size]), lower(new uint8_t[size]), three(new uint8_t[3 * size]),
        two(new uint8_t[2 * size]);
    widen_row(in, count, wide.get());
    widen_rows(in, far_row, count, both.get());
    blend_rows(in, far_row, count, true, upper.get());
    blend_rows(in, far_row, count, false, lower.get());
    repeat_samples(in, count, 3, three.get());
    repeat_samples(in, count, 2, two.get());
    for (int i = 0; i < count; ++i) {
      const auto column = [&](int x) { return 3 * in[x] + far_row[x]; };
      CHECK_EQUAL(int{wide[2 * i]}, (3 * in[i] + in[i - 1] + 1) / 4);
      CHECK_EQUAL(int{wide[2 * i + 1]}, (3 * in[i] + in[i + 1] + 2) / 4);
      CHECK_EQUAL(int{both[2 * i]}, (3 * column(i) + column(i - 1) + 8) / 16);
      CHECK_EQUAL(int{both[2 * i + 1]}, (3 * column(i) + column(i + 1) + 7) / 16);
      CHECK_EQUAL(int{upper[i]}, (column(i) + 1) / 4);
      CHECK_EQUAL(int{lower[i]}, (column(i) + 2) / 4);
      for (int k = 0; k < 3; ++k) CHECK_EQUAL(int{three[3 * i + k]}, int{in[i]});
      for (int k = 0; k < 2; ++k) CHECK_EQUAL(int{two[2 * i + k]}, int{in[i]});
    }
  }
}

TEST(colours_are_converted) {
  constexpr int kCount = 256 + 5;
  std::vector<uint8_t> rgb(3 * kCount), bgr(3 * kCount), cmyk(4 * kCount);
  Bytes luma_row(kCount), blue_row(kCount), red_row(kCount), black_row(kCount);
  for (int cb = 0; cb < 256; cb += 3) {
    for (int i = 0; i < kCount; ++i) {
      const size_t at = static_cast<size_t>(i);
      luma_row[at] = static_cast<uint8_t>(i * 37 + cb);
      blue_row[at] = static_cast<uint8_t>(cb);
      red_row[at] = static_cast<uint8_t>(i);
      black_row[at] = static_cast<uint8_t>(255 - i);
    }
    const uint8_t* const planes[4] = {luma_row.data(), blue_row.data(), red_row.data(),
                                      black_row.data()};
    ycc_to_rgb_row(planes, kCount, rgb.data());
    ycc_to_bgr_row(planes, kCount, bgr.data());
    ycck_to_cmyk_row(planes, kCount, cmyk.data());
    for (int i = 0; i < kCount; ++i) {
      const size_t at = static_cast<size_t>(i);
      const int y = luma_row[at], red = red_row[at];
      const int expected[3] = {red_of(y, cb, red), green_of(y, cb, red), blue_of(y, cb, red)};
      for (size_t c = 0; c < 3; ++c) {
        CHECK_EQUAL(int{rgb[3 * at + c]}, expected[c]);
        CHECK_EQUAL(int{bgr[3 * at + 2 - c]}, expected[c]);
        CHECK_EQUAL(int{cmyk[4 * at + c]}, 255 - expected[c]);
      }
      CHECK_EQUAL(int{cmyk[4 * at + 3]}, int{black_row[at]});
    }
  }
  std::vector<uint8_t> mixed(4 * kCount);
  const uint8_t* const planes[4] = {luma_row.data(), blue_row.data(), red_row.data(),
                                    black_row.data()};
  for (const int num_planes : {3, 4}) {
    interleave_row(planes, num_planes, kCount, mixed.data());
    for (int i = 0; i < kCount * num_planes; ++i)
      CHECK_EQUAL(int{mixed[static_cast<size_t>(i)]}, int{planes[i % num_planes][i / num_planes]});
  }
}
