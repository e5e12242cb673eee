// Runs a fuzz target if the compiler has no libFuzzer: replays a corpus, then mutates inputs that
// reached new code. `-seconds N`, `-seed N`, `-save FOLDER` (for the input of a failure), and files
// or folders. Compiled without coverage itself.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tests/fuzz/target.hpp"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kNumCells = 1 << 16;
uint8_t reached[kNumCells];
size_t num_reached = 0;

Input current;
std::string save_to = ".";

void save_current() {
  const std::string path = save_to + "/failing_input";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(current.data()),
             static_cast<std::streamsize>(current.size()));
  std::fprintf(stderr, "the input is kept in %s\n", path.c_str());
}

void run_current() { LLVMFuzzerTestOneInput(current.data(), current.size()); }

Input read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

void collect(const std::string& path, std::vector<Input>& corpus) {
  if (!std::filesystem::is_directory(path)) return corpus.push_back(read(path));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) corpus.push_back(read(file));
}

Input mutated(const std::vector<Input>& corpus, std::mt19937_64& random) {
  Input input = corpus[random() % corpus.size()];
  for (uint64_t i = random() % 4 + 1; i > 0; --i) {
    if (input.empty()) input.push_back(0);
    const size_t start = random() % 2 ? input.size() : std::min<size_t>(input.size(), 64);
    const size_t at = random() % start;
    const size_t count = std::min<size_t>(1 + random() % 16, input.size() - at);
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 6) {
      case 0:
        input[at] ^= static_cast<uint8_t>(1 << random() % 8);
        break;
      case 1:
        input[at] = static_cast<uint8_t>(random());
        break;
      case 2:
        input[at] = random() % 2 ? 0xFF : 0;
        break;
      case 3:
        input.erase(place, place + static_cast<std::ptrdiff_t>(count));
        break;
      case 4:
        if (input.size() < 1 << 16) input.insert(place, count, static_cast<uint8_t>(random()));
        break;
      default: {
        const Input& other = corpus[random() % corpus.size()];
        if (other.empty()) break;
        const size_t from = random() % other.size();
        for (size_t k = 0; k < count && from + k < other.size(); ++k)
          input[at + k] = other[from + k];
      }
    }
  }
  return input;
}

}  // namespace

// Called at every edge of the code under test.
extern "C" void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  uint8_t& cell = reached[(place ^ place >> 16) % kNumCells];
  num_reached += cell == 0;
  cell = 1;
}

int main(int argc, char** argv) {
  double seconds = 0;
  uint64_t seed = 1;
  std::vector<Input> corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "-seconds" && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else if (argument == "-seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else if (argument == "-save" && i + 1 < argc)
      save_to = argv[++i];
    else
      collect(argument, corpus);
  }
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(save_current);
  if (corpus.empty()) corpus.emplace_back();
  for (const Input& input : corpus) {
    current = input;
    run_current();
  }
  const size_t num_files = corpus.size(), reached_by_files = num_reached;
  std::mt19937_64 random(seed);
  const auto start = std::chrono::steady_clock::now();
  uint64_t num_runs = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
         seconds) {
    const size_t before = num_reached;
    current = mutated(corpus, random);
    run_current();
    ++num_runs;
    if (num_reached > before) corpus.push_back(current);
  }
  std::printf("%zu files reached %zu places; %llu mutations reached %zu\n", num_files,
              reached_by_files, static_cast<unsigned long long>(num_runs), num_reached);
}
