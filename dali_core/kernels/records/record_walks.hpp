// Lists what is in a file: the walks, by path.
#pragma once

#include <string>
#include <vector>

#include "dali_core/kernels/records/byte_source.hpp"
#include "dali_core/kernels/records/lmdb_walk.hpp"
#include "dali_core/kernels/records/recordio.hpp"
#include "dali_core/kernels/records/tar_walk.hpp"
#include "dali_core/kernels/records/tfrecord.hpp"

namespace dali_core {

inline std::vector<ArchiveMember> walk_tar(const std::string& path) {
  const OpenFile file(path);
  FileSource source(file);
  return TarWalk(source).members();
}

inline std::vector<ArchiveMember> walk_lmdb(const std::string& path) {
  const OpenFile file(path);
  FileSource source(file);
  return LmdbWalk(source).entries();
}

inline std::vector<Record> walk_tfrecord(const std::string& path) {
  const OpenFile file(path);
  FileSource source(file);
  return TfrecordWalk(source).records();
}

inline std::vector<Record> walk_recordio(const std::string& path) {
  const OpenFile file(path);
  FileSource source(file);
  return RecordioWalk(source).records();
}

}  // namespace dali_core
