// fn.readers.file: reads one file of a list, and gives its label.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : path_(path) {
    do {
      // Without O_NONBLOCK a named pipe would hang the thread here.
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) fail("must be readable");
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int64_t size() const {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) fail("must be readable");
    if (!S_ISREG(status.st_mode)) {
      errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
      fail("must be a regular file");
    }
    return status.st_size;
  }

  void read(char* target, int64_t bytes) const {
    while (bytes > 0) {
      const ssize_t count = ::read(descriptor_, target, static_cast<size_t>(bytes));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("must be readable");
      if (count == 0)
        throw std::runtime_error("the file must not shrink while it is read (it did).");
      target += count;
      bytes -= count;
    }
  }

 private:
  [[noreturn]] void fail(const char* rule) const {
    throw std::runtime_error(std::string("the file ") + rule + " (got \"" + path_ +
                             "\": " + std::strerror(errno) + "). Check the path and permissions.");
  }

  std::string path_;
  int descriptor_;
};

class FileReader : public Operator {
 public:
  explicit FileReader(const OperatorConfig& config)
      : reader_(config.reader), labels_(config.get<std::vector<int64_t>>("labels")) {
    root_ = config.get<std::string>("file_root");
    if (config.get_or<int64_t>("read_ahead", 1) != 0)
      batches_ahead_ = config.get_or<int>("prefetch_queue_depth", 1);
    for (const std::string& file : config.get<std::vector<std::string>>("files"))
      files_.push_back(std::make_shared<const std::string>(file));
  }

  int batches_ahead() const override { return batches_ahead_; }

  void run(SampleContext& sample) const override {
    const auto index = static_cast<size_t>(sample.reader_index(reader_));
    const std::string& file = *files_[index];
    sample.set_source(files_[index]);

    const bool is_absolute = root_.empty() || file[0] == '/';
    const OpenFile opened(is_absolute ? file : root_ + "/" + file);
    const int64_t size = opened.size();
    opened.read(sample.output(0, DataType::kUInt8, {size}).as<char>(), size);
    *sample.output(1, DataType::kInt32, {1}).as<int32_t>() = static_cast<int32_t>(labels_[index]);
  }

 private:
  int reader_;
  int batches_ahead_ = 0;
  std::string root_;
  std::vector<std::shared_ptr<const std::string>> files_;
  std::vector<int64_t> labels_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("readers.file", FileReader)

}  // namespace dali_core
