// The walk through tar archives: whatever it lists is inside of the archive, or has a problem.
#include "dali_core/native_io/records/tar_walk.hpp"
#include "tests/fuzz/target.hpp"

using namespace dali_core;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ExactCopy copy(data, size);
  MemorySource source(copy.data(), size);
  int64_t last = 0;
  const auto members = TarWalk(source).members();
  FUZZ_CHECK(members.size() <= size / 512 + 1);
  for (const ArchiveMember& member : members) {
    const bool is_behind_the_end = &member == &members.back() && !member.problem.empty();
    FUZZ_CHECK(member.offset >= last && member.size >= (is_behind_the_end ? -1 : 0));
    last = member.offset;
    if (!member.problem.empty()) continue;
    FUZZ_CHECK(member.offset % 512 == 0);
    FUZZ_CHECK(source.has(member.offset, member.size));
  }
  return 0;
}
