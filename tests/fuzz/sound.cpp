// Sounds as an untrustworthy libsndfile returns them, whose functions are here: headers with any
// numbers, reads that return fewer or more frames than asked for, and seeks that go elsewhere.
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "batch.hpp"
#include "dali_core/native_io/sound/decode_sound.hpp"
#include "sample_program.hpp"
#include "tests/fuzz/target.hpp"

using namespace dali_core;

namespace {

constexpr float kValue = 0.25f;  // of all samples
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

// What the library does, as the input says.
struct Behaviour {
  bool opens;
  SoundInfo info;
  int64_t available;  // frames that it has
  int64_t excess;     // added to what reads return
  bool seeks;
  int text;
  uint64_t callbacks;  // how it calls the functions of its source
};

// The numbers that headers are made of.
int64_t number(Settings& settings) {
  static const int64_t kNumbers[] = {0, 1, 2, 3, 1000, 4095, 4096, 4097, 48000, 1 << 18, 1 << 24};
  static const int64_t kOthers[] = {-1, int64_t{1} << 31, int64_t{1} << 40, kSmallest, kLargest};
  const int choice = settings.below(20);
  if (choice < 11) return kNumbers[choice];
  if (choice < 16) return kOthers[choice - 11];
  return settings.byte() * 256 + settings.byte();
}

float real(Settings& settings) {
  const int choice = settings.below(8);
  if (choice == 0) return std::nanf("");
  if (choice == 1) return std::numeric_limits<float>::infinity();
  if (choice == 2) return 0;
  return static_cast<float>(number(settings));
}

Behaviour behaviour;
int64_t place;       // in frames
int64_t num_opened;  // links of the file

// Calls the functions of the source, which must not leave its bytes whatever is asked for.
void use(const SoundInput& input, void* source) {
  const int64_t length = input.length(source);
  FUZZ_CHECK(length >= 0);
  static const int64_t kOffsets[] = {0, 1, -1, 100, kSmallest, kLargest};
  uint64_t choices = behaviour.callbacks;
  for (; choices != 0; choices /= 32) {
    const int64_t offset = kOffsets[choices % 6];
    const int origin = static_cast<int>(choices / 6 % 3);  // SEEK_SET, SEEK_CUR, SEEK_END
    const int64_t reached = input.seek(offset, origin, source);
    // What libmpg123 reads has its end far away.
    FUZZ_CHECK(reached >= -1 && reached <= std::max(length, int64_t{1} << 40));
    char bytes[16];
    const int64_t count = offset < 16 ? offset : 16;
    const int64_t got = input.read(bytes, count, source);
    FUZZ_CHECK(got >= 0 && got <= std::max<int64_t>(count, 0));
    FUZZ_CHECK(input.tell(source) >= 0);
    FUZZ_CHECK(input.write(bytes, 1, source) == 0);
  }
}

template <typename T>
int64_t read(T* target, int64_t frames, T value) {
  FUZZ_CHECK(frames >= 0);
  const int64_t count = std::max<int64_t>(0, std::min(frames, behaviour.available - place));
  std::fill_n(target, count * behaviour.info.channels, value);
  place += count;
  // Fewer than there are, or more than were asked for.
  return behaviour.excess < 0 || count == frames ? count + behaviour.excess : count;
}

struct Decode : Operator {
  Decode(const OperatorConfig& config, const uint8_t* data, size_t size, float rate, SoundPart part)
      : request(config), bytes(data, size), size(size), rate(rate), part(part) {}

  void run(SampleContext& sample) const override {
    decode_sound(sample, request, bytes.data(), static_cast<int64_t>(size), rate, part);
  }

  SoundRequest request;
  ExactCopy bytes;
  size_t size;
  float rate;
  SoundPart part;
};

}  // namespace

extern "C" {

void* sf_open_virtual(SoundInput* input, int, SoundInfo* info, void* source) {
  use(*input, source);
  *info = behaviour.info;
  place = 0;
  ++num_opened;
  return behaviour.opens ? &behaviour : nullptr;
}

int sf_close(void*) { return 0; }

int sf_error(void*) { return 0; }

const char* sf_strerror(void*) {
  static const char* const kTexts[] = {nullptr, "", " . \n", "no such\x01 \xff header."};
  return kTexts[behaviour.text];
}

int64_t sf_seek(void*, int64_t frame, int) {
  place = std::max<int64_t>(frame, 0);
  return behaviour.seeks ? frame : -1;
}

int64_t sf_readf_float(void*, float* target, int64_t frames) {
  return read(target, frames, kValue);
}

int64_t sf_readf_short(void*, int16_t* target, int64_t frames) {
  return read<int16_t>(target, frames, 1 << 13);
}

int64_t sf_readf_int(void*, int32_t* target, int64_t frames) {
  return read<int32_t>(target, frames, 1 << 29);
}

}  // extern "C"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // So that nothing takes long.
  static const int is_limited = ::setenv("DALI_CORE_MEMORY_LIMIT", "262144", 1);
  FUZZ_CHECK(is_limited == 0);
  Settings settings(data, size);
  behaviour.opens = settings.below(8) != 0;
  behaviour.info.channels = static_cast<int>(number(settings));
  behaviour.info.sample_rate = static_cast<int>(number(settings));
  behaviour.info.frames = number(settings);
  behaviour.info.format = settings.byte();
  behaviour.available =
      settings.flag() ? behaviour.info.frames : settings.byte() * 256 + settings.byte();
  // As much as a file may hold, or a loop that counts would not end.
  behaviour.available =
      std::min<int64_t>(behaviour.available, (1 << 17) / std::max(1, behaviour.info.channels));
  behaviour.excess = settings.below(4) == 0 ? number(settings) % 10000 : 0;
  behaviour.seeks = settings.below(4) != 0;
  behaviour.text = settings.below(4);
  behaviour.callbacks = 0;
  num_opened = 0;
  for (int i = 0; i < 4; ++i) behaviour.callbacks = behaviour.callbacks * 256 + settings.byte();

  static const DataType kTypes[] = {DataType::kFloat, DataType::kInt16, DataType::kInt32};
  OperatorConfig config;
  config.values = {{"sound_libraries", std::vector<std::string>{""}},  // this program
                   {"downmix", int64_t{settings.flag()}},
                   {"dtype", static_cast<int64_t>(kTypes[settings.below(3)])},
                   {"quality", static_cast<double>(settings.below(101))}};
  SoundPart part;
  if (settings.flag()) part = {real(settings), real(settings)};
  const float rate = settings.flag() ? 0 : real(settings);
  Instruction instruction;
  std::vector<uint8_t> bytes;
  static const char* const kStarts[] = {"",
                                        "RIFF",
                                        "RF64",
                                        "fLaC",
                                        "OggS",
                                        "riff",
                                        "caff",
                                        ".snd",
                                        "FORM",
                                        "ID3",
                                        "\xff\xfb\x90\x64"};
  const char* const start = kStarts[settings.below(11)];
  bytes.assign(start, start + std::strlen(start));
  bytes.insert(bytes.end(), settings.rest(), settings.rest() + settings.rest_size());
  instruction.op = std::make_shared<Decode>(config, bytes.data(), bytes.size(), rate, part);
  instruction.outputs = {0};

  static const std::shared_ptr<BufferPool> pool = BufferPool::create();
  Batch batch(0, 1, 1, 0, 1, 0);
  batch.output_of_value.assign(1, -1);
  ThreadTimes times{1};
  Worker worker{*pool, times};
  SampleProgram({instruction}).run(batch, 0, worker);
  if (batch.failed()) {
    FUZZ_CHECK(!batch.failures().front().message.empty());
    return 0;
  }
  const Tensor& output = batch.values[0][0];
  FUZZ_CHECK(behaviour.opens);
  FUZZ_CHECK(output.shape.ndim == 1 || output.shape[1] == behaviour.info.channels);
  const bool is_resampled = rate > 0 && rate != static_cast<float>(behaviour.info.sample_rate);
  const int64_t count = is_resampled ? 0 : output.num_elements();
  FUZZ_CHECK(is_resampled ||
             output.shape[0] <= num_opened * std::max<int64_t>(0, behaviour.available));
  for (int64_t i = 0; i < count; ++i) {  // every sample was written
    if (output.type == DataType::kFloat)
      FUZZ_CHECK(std::abs(output.as<float>()[i] - kValue) < 1e-6f);
    else if (output.type == DataType::kInt16)
      FUZZ_CHECK(std::abs(output.as<int16_t>()[i] - (1 << 13)) <= 1);
    else
      FUZZ_CHECK(std::abs(output.as<int32_t>()[i] - (1 << 29)) <= 1 << 6);
  }
  return 0;
}
