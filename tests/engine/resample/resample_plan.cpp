// Plans of resampling: parts of the output, mirrored parts, and the pixels that are read.
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "check.hpp"
#include "dali_core/kernels/resample/resample.hpp"

using namespace dali_core;

namespace {

// Exactly as large as needed, so that a sanitizer detects reads out of bounds.
template <typename T>
struct Pixels {
  explicit Pixels(size_t count) : size(count), data(new T[count]) {}
  size_t size;
  std::unique_ptr<T[]> data;
};

template <typename T>
Pixels<T> noise(int64_t count) {
  Pixels<T> pixels(static_cast<size_t>(count));
  std::minstd_rand random(1);
  for (int64_t i = 0; i < count; ++i) pixels.data[i] = static_cast<T>(random() >> 8 & 255);
  return pixels;
}

struct Memory {
  explicit Memory(size_t bytes)
      : data(std::aligned_alloc(64, std::max<size_t>((bytes + 63) / 64 * 64, 64)), &std::free) {}
  std::unique_ptr<void, decltype(&std::free)> data;
};

struct Case {
  ResampleAxis rows, columns;
  int channels;
};

// Resamples from a copy of only the pixels that the plan requires.
template <typename In, typename Out>
Pixels<Out> run(const Case& wanted, const Pixels<In>& image) {
  ResamplePlan plan(wanted.rows, wanted.columns, wanted.channels, data_type_of<In>(),
                    data_type_of<Out>());
  const Memory memory(plan.scratch_bytes());
  plan.bind(memory.data.get());
  const int64_t width = plan.column_end() - plan.column_begin();
  const int64_t height = plan.row_end() - plan.row_begin();
  CHECK(plan.row_begin() >= 0 && plan.row_end() <= wanted.rows.input_size);
  CHECK(plan.column_begin() >= 0 && plan.column_end() <= wanted.columns.input_size);
  Pixels<In> part(static_cast<size_t>(height * width * wanted.channels));
  for (int64_t y = 0; y < height; ++y)
    std::memcpy(part.data.get() + y * width * wanted.channels,
                image.data.get() +
                    ((plan.row_begin() + y) * wanted.columns.input_size + plan.column_begin()) *
                        wanted.channels,
                static_cast<size_t>(width * wanted.channels) * sizeof(In));
  ResampleImage source;
  source.data = part.data.get();
  source.row_stride = width * wanted.channels * static_cast<int64_t>(sizeof(In));
  source.first_row = plan.row_begin();
  source.first_column = plan.column_begin();
  const int64_t stride = plan.output_width() * wanted.channels;
  Pixels<Out> result(static_cast<size_t>(plan.output_height() * stride));
  resample<Out>(plan, source, RowsInMemory<Out>{result.data.get(), stride});
  return result;
}

template <typename In, typename Out>
void check_parts(Case whole) {
  const Pixels<In> image =
      noise<In>(whole.rows.input_size * whole.columns.input_size * whole.channels);
  const Pixels<Out> everything = run<In, Out>(whole, image);
  const int64_t height = whole.rows.output_size;
  const int64_t width = whole.columns.output_size;
  Case part = whole;
  part.rows.first_output = height / 3;
  part.rows.num_outputs = std::max<int64_t>(height / 2, 1);
  part.columns.first_output = width / 4;
  part.columns.num_outputs = std::max<int64_t>(width / 2, 1);
  for (const bool mirrored : {false, true}) {
    part.columns.reverse = mirrored;
    part.rows.reverse = !mirrored;
    const Pixels<Out> some = run<In, Out>(part, image);
    const Out* found = some.data.get();
    for (int64_t y = 0; y < part.rows.num_outputs; ++y)
      for (int64_t x = 0; x < part.columns.num_outputs; ++x) {
        const int64_t from_y =
            part.rows.first_output + (mirrored ? y : part.rows.num_outputs - 1 - y);
        const int64_t from_x =
            part.columns.first_output + (mirrored ? part.columns.num_outputs - 1 - x : x);
        const Out* expected = everything.data.get() + (from_y * width + from_x) * whole.channels;
        CHECK(std::memcmp(found, expected, sizeof(Out) * whole.channels) == 0);
        found += whole.channels;
      }
  }
}

const ResampleFilter kFilters[] = {ResampleFilter::kNearest,    ResampleFilter::kLinear,
                                   ResampleFilter::kCubic,      ResampleFilter::kLanczos3,
                                   ResampleFilter::kTriangular, ResampleFilter::kGaussian};

template <typename Check>
void for_all_cases(Check&& check_case) {
  const int64_t sizes[][4] = {{19, 31, 40, 50}, {40, 51, 19, 23}, {3, 90, 7, 13},  {1, 1, 5, 3},
                              {97, 8, 1, 1},    {16, 24, 8, 12},  {21, 17, 21, 17}};
  for (const auto& size : sizes)
    for (const ResampleFilter filter : kFilters)
      for (const int channels : {1, 2, 3, 4, 5}) {
        Case some{{size[0], size[2], filter}, {size[1], size[3], filter}, channels};
        check_case(some);
        some.rows.antialias = some.columns.antialias = false;
        some.columns.begin = static_cast<float>(size[1]) * 0.8f;
        some.columns.end = static_cast<float>(size[1]) * -0.1f;
        check_case(some);
      }
}

}  // namespace

TEST(parts_of_bytes_have_the_bits_of_the_whole) {
  for_all_cases([](const Case& some) { check_parts<uint8_t, uint8_t>(some); });
}

TEST(parts_of_floats_have_the_bits_of_the_whole) {
  for_all_cases([](const Case& some) { check_parts<uint8_t, float>(some); });
}

TEST(parts_of_types_without_kernels_have_the_bits_of_the_whole) {
  for_all_cases([](const Case& some) { check_parts<int32_t, int32_t>(some); });
}

TEST(weights_sum_to_one_and_stay_inside) {
  for_all_cases([](const Case& some) {
    const AxisTaps taps(some.columns);
    std::vector<int32_t> starts(static_cast<size_t>(taps.num_outputs()));
    std::vector<float> weights(starts.size() * static_cast<size_t>(taps.num_taps()));
    taps.fill(starts.data(), weights.data());
    for (size_t i = 0; i < starts.size(); ++i) {
      CHECK(starts[i] >= taps.source_begin());
      CHECK(starts[i] + taps.num_taps() <= taps.source_end());
      float sum = 0;
      for (int k = 0; k < taps.num_taps(); ++k) sum += weights[i * taps.num_taps() + k];
      CHECK(sum > 0.9999f && sum < 1.0001f);
    }
  });
}

TEST(rounded_weights_sum_to_exactly_one) {
  const float weights[] = {0.333333f, 0.333333f, 0.333333f, -0.07f, 0.57f, 0.5f};
  int16_t rounded[6];
  round_weights(weights, 2, 3, rounded);
  for (int i = 0; i < 6; i += 3)
    CHECK_EQUAL(rounded[i] + rounded[i + 1] + rounded[i + 2], 1 << kResampleWeightBits);
}

TEST(rows_come_in_order_and_once) {
  struct Writer {
    std::vector<uint8_t> rows;
    std::vector<int64_t> asked, done;
    uint8_t* row(int64_t y) {
      asked.push_back(y);
      return rows.data() + y * 5;
    }
    void done_with(int64_t y) { done.push_back(y); }
  };
  const Pixels<uint8_t> image = noise<uint8_t>(9 * 4);
  ResamplePlan plan({9, 7, ResampleFilter::kLinear}, {4, 5, ResampleFilter::kLinear}, 1,
                    DataType::kUInt8, DataType::kUInt8);
  const Memory memory(plan.scratch_bytes());
  plan.bind(memory.data.get());
  struct Adapter {
    Writer& writer;
    uint8_t* row(int64_t y) { return writer.row(y); }
    void done(int64_t y, uint8_t* row) {
      CHECK(row == writer.rows.data() + y * 5);
      writer.done_with(y);
    }
  };
  Writer writer;
  writer.rows.resize(7 * 5);
  ResampleImage source;
  source.data = image.data.get();
  source.row_stride = 4;
  resample<uint8_t>(plan, source, Adapter{writer});
  CHECK((writer.done == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
  CHECK(writer.asked == writer.done);
}
