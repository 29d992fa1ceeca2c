// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/elf_libraries.h"

#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "common/sys/fd.h"

namespace pop {
namespace {

// Far beyond those of real programs.
constexpr std::size_t kMostSegments = 256;
constexpr std::size_t kMostEntries = 2048;
constexpr std::size_t kMostLibraries = 128;
constexpr std::size_t kMostNameBytes = 256;

constexpr std::uint64_t kFarthest = std::numeric_limits<off_t>::max();  // place in a file

constexpr unsigned char kOwnByteOrder =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

class ElfFile {
 public:
  explicit ElfFile(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}

  std::vector<std::string> needed() {
    if (!readSegments()) return {};
    readDynamicSection();
    const std::optional<std::uint64_t> strings = placeOf(strings_at_);
    if (!strings) return {};
    std::vector<std::string> libraries;
    for (const std::uint64_t name : names_) {
      std::optional<std::string> library = textAt(*strings, name);
      if (library) libraries.push_back(std::move(*library));
    }
    return libraries;
  }

 private:
  // The number of bytes that were there.
  std::size_t readAt(std::uint64_t place, void* into, std::size_t bytes) const {
    if (place > kFarthest) return 0;
    const ssize_t got = ::pread(file_.get(), into, bytes, static_cast<off_t>(place));
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }

  bool readSegments() {
    struct stat info {};
    if (!file_.valid() || ::fstat(file_.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    Elf64_Ehdr header{};
    if (readAt(0, &header, sizeof(header)) != sizeof(header)) return false;
    const bool is_ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == kOwnByteOrder &&
                         header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum <= kMostSegments;
    if (!is_ours) return false;
    segments_.resize(header.e_phnum);
    const std::size_t bytes = segments_.size() * sizeof(Elf64_Phdr);
    return readAt(header.e_phoff, segments_.data(), bytes) == bytes;
  }

  void readDynamicSection() {
    const auto dynamic = std::find_if(segments_.begin(), segments_.end(),
                                      [](const Elf64_Phdr& each) { return each.p_type == PT_DYNAMIC; });
    if (dynamic == segments_.end()) return;
    std::vector<Elf64_Dyn> entries(
        std::min<std::uint64_t>(dynamic->p_filesz / sizeof(Elf64_Dyn), kMostEntries));
    entries.resize(readAt(dynamic->p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn)) /
                   sizeof(Elf64_Dyn));
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_STRTAB) strings_at_ = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) strings_bytes_ = entry.d_un.d_val;
      if (entry.d_tag == DT_NEEDED && names_.size() < kMostLibraries) names_.push_back(entry.d_un.d_val);
    }
  }

  // Offset in the file of that address of the loaded program.
  std::optional<std::uint64_t> placeOf(std::uint64_t address) const {
    for (const Elf64_Phdr& each : segments_) {
      if (each.p_type != PT_LOAD || address < each.p_vaddr) continue;
      const std::uint64_t within = address - each.p_vaddr;
      if (within < each.p_filesz && each.p_offset <= kFarthest - within) return each.p_offset + within;
    }
    return std::nullopt;
  }

  std::optional<std::string> textAt(std::uint64_t strings, std::uint64_t name) const {
    if (name >= strings_bytes_ || name > kFarthest) return std::nullopt;
    std::array<char, kMostNameBytes> text{};
    const std::size_t there = readAt(strings + name, text.data(), text.size());
    const std::string_view seen(text.data(), std::min<std::uint64_t>(there, strings_bytes_ - name));
    const std::size_t end = seen.find('\0');
    if (end == 0 || end == std::string_view::npos) return std::nullopt;
    return std::string(seen.substr(0, end));
  }

  const sys::Fd file_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<std::uint64_t> names_;  ///< within the strings
  std::uint64_t strings_at_ = 0;      ///< an address
  std::uint64_t strings_bytes_ = 0;
};

}  // namespace

std::vector<std::string> neededLibraries(const std::string& path) {
  return ElfFile(path).needed();
}

}  // namespace pop
