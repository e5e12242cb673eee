// fn.io.file.read: the bytes of a file whose path is an input.
#include <memory>
#include <string>

#include "dali_core/native_io/files/open_file.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

std::string path_of(const Tensor& input) {
  if (size_of(input.type) != 1 || input.shape.ndim != 1)
    throw std::invalid_argument("the path must be bytes in one dimension (got " +
                                std::string(name_of(input.type)) + " of shape " +
                                to_string(input.shape) + "). Pass the path as encoded text.");
  std::string path(input.as<char>(), static_cast<size_t>(input.num_elements()));
  while (!path.empty() && path.back() == '\0') path.pop_back();
  if (path.empty() || path.find('\0') != std::string::npos)
    throw std::invalid_argument(std::string("the path must be text without NUL characters (got ") +
                                (path.empty() ? "no text" : "such a character") +
                                "). Pass the path of a file.");
  return path;
}

}  // namespace

class FileRead : public Operator {
 public:
  explicit FileRead(const OperatorConfig& config) : storage_(config) {}

  void run(SampleContext& sample) const override {
    const auto path = std::make_shared<const std::string>(path_of(sample.input(0)));
    sample.set_source(path);
    const OpenFile opened(*path, storage_);
    read_output(sample, 0, opened, 0, opened.size());
  }

 private:
  Storage storage_;
};

DALI_CORE_REGISTER_OPERATOR("io.file.read", FileRead)

}  // namespace dali_core
