// SPDX-License-Identifier: Apache-2.0
#include "common/sys/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace pop::sys {

Result<Fd> createMemfd(const std::string& name, std::size_t bytes) {
  // Exceeding RLIMIT_FSIZE raises a signal instead of returning an error.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
    return Status(Code::kResourceExhausted,
                  "sizing shared memory to " + std::to_string(bytes) +
                      " bytes: the limit on file sizes is lower (`ulimit -f unlimited`)");
  }
  Fd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return errnoStatus("creating shared memory", errno);
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return errnoStatus("sizing shared memory to " + std::to_string(bytes) + " bytes", errno);
  }
  // Processes that map it rely on its size: after truncation a touch would be a SIGBUS.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return errnoStatus("sealing shared memory", errno);
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

Result<Mapping> Mapping::map(int fd, std::size_t bytes, int flags) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | flags, fd, 0);
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

std::size_t mappableBytes(std::size_t wanted, std::size_t share) {
  constexpr std::size_t kPage = 4096;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return std::min<std::size_t>(wanted, limit.rlim_cur / share / kPage * kPage);
}

Result<Mapping> mapShared(int fd, std::size_t bytes) {
  return Mapping::map(fd, bytes, 0);
}
Result<Mapping> mapAnonymous(std::size_t bytes) {
  return Mapping::map(-1, bytes, MAP_ANONYMOUS);
}

}  // namespace pop::sys
