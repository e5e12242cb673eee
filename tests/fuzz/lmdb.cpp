// The walk through databases of LMDB: whatever it lists is inside of the file, or has a problem;
// and messages of Caffe2.
#include <stdexcept>

#include "dali_core/native_io/records/lmdb_walk.hpp"
#include "dali_core/native_io/records/tensor_proto.hpp"
#include "tests/fuzz/target.hpp"

using namespace dali_core;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ExactCopy copy(data, size);
  MemorySource source(copy.data(), size);
  const auto entries = LmdbWalk(source).entries();
  FUZZ_CHECK(entries.size() <= size + 1);
  for (const ArchiveMember& entry : entries)
    FUZZ_CHECK(!entry.problem.empty() || source.has(entry.offset, entry.size));
  try {
    for (const TensorProto& tensor : TensorProto::all_of({copy.data(), size}))
      FUZZ_CHECK(tensor.bytes.size <= size && tensor.text.size <= size);
  } catch (const std::runtime_error&) {
    // The expected error.
  }
  return 0;
}
