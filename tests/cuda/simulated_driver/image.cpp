// Images of device code: validation, target device, and kernels.
#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "module.hpp"

namespace simulated {
namespace {

constexpr unsigned kCudaMachine = 190;

template <class T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Runs on devices of the same major version from its own minor version on.
void require_cubin_for(const Elf64_Ehdr& header, int major, int minor) {
  require(header.e_machine == kCudaMachine, CUDA_ERROR_INVALID_IMAGE);
  const unsigned shift = header.e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
  const int architecture = static_cast<int>(header.e_flags >> shift & 0xff);
  require(architecture / 10 == major && architecture % 10 <= minor, CUDA_ERROR_NO_BINARY_FOR_GPU);
}

std::size_t end_of(const char* image, const Elf64_Ehdr& header) {
  std::size_t end = sizeof header;
  end = std::max<std::size_t>(end, header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr));
  end = std::max<std::size_t>(end, header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr));
  for (unsigned number = 0; number < header.e_shnum; ++number) {
    const auto section = read<Elf64_Shdr>(image + header.e_shoff + number * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS) {
      end = std::max<std::size_t>(end, section.sh_offset + section.sh_size);
    }
  }
  return end;
}

std::string read_ptx(const char* image, int major, int minor) {
  const std::string text = image;
  const std::size_t target = text.find("\n.target sm_");
  const bool is_ptx = text.find(".version") != std::string::npos && target != std::string::npos;
  require(is_ptx, CUDA_ERROR_INVALID_IMAGE);
  int architecture = 0;
  std::sscanf(text.c_str() + target, "\n.target sm_%d", &architecture);
  require(architecture <= major * 10 + minor, CUDA_ERROR_INVALID_PTX);
  return text;
}

}  // namespace

std::string read_image(const void* image, int major, int minor) {
  require(image, CUDA_ERROR_INVALID_VALUE);
  const auto* bytes = static_cast<const char*>(image);
  if (std::strncmp(bytes, ELFMAG, SELFMAG) != 0) return read_ptx(bytes, major, minor);
  const auto header = read<Elf64_Ehdr>(bytes);
  require_cubin_for(header, major, minor);
  return std::string(bytes, end_of(bytes, header));
}

bool has_entry(const std::string& image, const std::string& name) {
  if (image.compare(0, SELFMAG, ELFMAG) == 0) {
    const std::string section = ".text." + name;
    return image.find(std::string(section.c_str(), section.size() + 1)) != std::string::npos;
  }
  const std::string entry = ".entry " + name;
  std::size_t at = image.find(entry);
  while (at != std::string::npos) {
    const char after = image[at + entry.size()];
    if (!std::isalnum(static_cast<unsigned char>(after)) && after != '_') return true;
    at = image.find(entry, at + 1);
  }
  return false;
}

}  // namespace simulated
