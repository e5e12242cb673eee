// Lists what is in a file: the walks, by path.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dali_core/native_io/records/byte_source.hpp"
#include "dali_core/native_io/records/lmdb_walk.hpp"
#include "dali_core/native_io/records/recordio.hpp"
#include "dali_core/native_io/records/tar_walk.hpp"
#include "dali_core/native_io/records/tfrecord.hpp"

namespace dali_core {

// A file, or an object of a known size in remote storage.
struct WalkedFile {
  std::string path;
  int64_t reads = 0;  // the address that `Storage` is made of; 0 for files
  int64_t size = 0;

  std::unique_ptr<const OpenFile> open() const {
    if (reads == 0) return std::make_unique<const OpenFile>(path);
    const auto& remote = *reinterpret_cast<const std::shared_ptr<RemoteReads>*>(reads);
    return std::make_unique<const OpenFile>(path, *remote, size);
  }
};

inline std::vector<ArchiveMember> walk_tar(const WalkedFile& walked) {
  const auto file = walked.open();
  FileSource source(*file);
  return TarWalk(source).members();
}

inline std::vector<ArchiveMember> walk_lmdb(const WalkedFile& walked) {
  const auto file = walked.open();
  FileSource source(*file);
  return LmdbWalk(source).entries();
}

inline std::vector<Record> walk_tfrecord(const WalkedFile& walked) {
  const auto file = walked.open();
  FileSource source(*file);
  return TfrecordWalk(source).records();
}

inline std::vector<Record> walk_recordio(const WalkedFile& walked) {
  const auto file = walked.open();
  FileSource source(*file);
  return RecordioWalk(source).records();
}

}  // namespace dali_core
