// SPDX-License-Identifier: Apache-2.0
#include "common/sys/memfd.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pop::sys {

Result<Fd> createMemfd(const std::string& name, std::size_t bytes) {
  Fd fd(::memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!fd.valid()) return errnoStatus("creating shared memory", errno);
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return errnoStatus("sizing shared memory to " + std::to_string(bytes) + " bytes", errno);
  }
  return fd;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<Mapping> mapShared(int fd, std::size_t bytes) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (address == MAP_FAILED) {
    return errnoStatus("mapping " + std::to_string(bytes) + " bytes of shared memory (is `ulimit -v` set?)",
                       errno);
  }
  ::madvise(address, bytes, MADV_DONTDUMP);
  Mapping mapping;
  mapping.data_ = static_cast<std::byte*>(address);
  mapping.bytes_ = bytes;
  return mapping;
}

}  // namespace pop::sys
