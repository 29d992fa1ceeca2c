// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/disk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/crc32c.h"
#include "common/base/text.h"
#include "libpopdist/train/checkpoint/manifest.h"
#include "libpopdist/train/checkpoint/safetensors.h"

namespace popdist::train {
namespace {

constexpr std::size_t kWriteBytes = 4 * kBlockBytes;

/// From memory, at whole pages, as O_DIRECT wants it.
class PageWriter {
 public:
  PageWriter(const pop::sys::Fd& file, bool is_direct) : file_(file), is_direct_(is_direct) {}

  /// 0, or the error number.
  int write(std::span<const std::byte> pages, std::size_t at) {
    while (!pages.empty()) {
      const ssize_t written = ::pwrite(file_.get(), pages.data(), pages.size(), static_cast<off_t>(at));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0 && errno == EINVAL && is_direct_) {
        leaveDirect();
        continue;
      }
      if (written <= 0) return written < 0 ? errno : ENOSPC;
      // The disk is full in the middle of a page: the next turn says so, through the page cache.
      if (static_cast<std::size_t>(written) % kFilePageBytes != 0 && is_direct_) leaveDirect();
      at += static_cast<std::size_t>(written);
      pages = pages.subspan(static_cast<std::size_t>(written));
    }
    return 0;
  }

 private:
  void leaveDirect() {
    ::fcntl(file_.get(), F_SETFL, ::fcntl(file_.get(), F_GETFL) & ~O_DIRECT);
    is_direct_ = false;
  }

  const pop::sys::Fd& file_;
  bool is_direct_;
};

pop::sys::Fd create(const Directory& directory, const std::string& name, int flags) {
  return pop::sys::Fd(
      ::openat(directory.fd.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0666));
}

}  // namespace

pop::Status cannot(const std::string& verb, const std::string& path, int error_number) {
  pop::Status status = pop::errnoStatus("cannot " + verb + ' ' + pop::inQuotes(path), error_number);
  const char* advice = "";
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      advice = ": free some space there, keep fewer checkpoints, or use another directory";
      break;
    case EFBIG:
      advice = ": the limit for the size of a file (ulimit -f), or the file system's, is too low";
      break;
    case EIO:
      advice = ": the disk may be failing, see dmesg; use another directory";
      break;
    default:
      return status;
  }
  const pop::Code code = error_number == EIO ? pop::Code::kDataLoss : status.code();
  return {code, status.message() + advice};
}

pop::Result<Directory> openDirectory(const std::string& path) {
  Directory directory{pop::sys::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), path};
  if (!directory.fd.valid()) return cannot("open", path, errno);
  return directory;
}

pop::Result<FileToRead> openToRead(const Directory& directory, const std::string& name) {
  const std::string path = directory.pathOf(name);
  FileToRead file{
      .fd = pop::sys::Fd(::openat(directory.fd.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  struct stat info {};
  if (!file.fd.valid() || ::fstat(file.fd.get(), &info) != 0) {
    const int error = errno;
    const pop::Status status = cannot("open", path, error);
    return error == ENOENT ? pop::Status(pop::Code::kDataLoss, status.message()) : status;
  }
  if (!S_ISREG(info.st_mode)) {
    return pop::Status(
        pop::Code::kDataLoss,
        pop::inQuotes(path) + " is not a regular file: take another checkpoint, or restore it");
  }
  file.bytes = static_cast<std::uint64_t>(info.st_size);
  return file;
}

pop::Result<std::vector<std::uint32_t>> writePages(const Directory& directory, const std::string& name,
                                                   std::span<const std::byte> bytes) {
  const std::string path = directory.pathOf(name);
  pop::sys::Fd file = create(directory, name, O_DIRECT);
  const bool is_direct = file.valid();
  if (!is_direct && errno == EINVAL) {
    ::unlinkat(directory.fd.get(), name.c_str(), 0);  // some file systems refuse after they have made it
    file = create(directory, name, 0);
  }
  if (!file.valid()) return cannot("create", path, errno);
  PageWriter writer(file, is_direct);
  std::vector<std::uint32_t> crcs;
  for (std::size_t at = 0; at < bytes.size(); at += kWriteBytes) {
    const std::size_t end = std::min(at + kWriteBytes, bytes.size());
    for (std::size_t block = at; block < end; block += kBlockBytes)
      crcs.push_back(pop::crc32c(bytes.subspan(block, std::min(kBlockBytes, end - block))));
    const std::size_t pages = (end - at + kFilePageBytes - 1) / kFilePageBytes * kFilePageBytes;
    if (const int error = writer.write({bytes.data() + at, pages}, at); error != 0)
      return cannot("write", path, error);
  }
  if (::ftruncate(file.get(), static_cast<off_t>(bytes.size())) != 0 || ::fsync(file.get()) != 0)
    return cannot("write", path, errno);
  return crcs;
}

pop::Status writeText(const Directory& directory, const std::string& name, std::string_view text) {
  const std::string path = directory.pathOf(name);
  const pop::sys::Fd file = create(directory, name, 0);
  if (!file.valid()) return cannot("create", path, errno);
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return cannot("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file.get()) == 0 ? pop::Status() : cannot("write", path, errno);
}

pop::Status syncDirectory(const Directory& directory) {
  if (::fsync(directory.fd.get()) == 0 || errno == EINVAL) return {};  // EINVAL: it has nothing to sync
  return cannot("write", directory.path, errno);
}

}  // namespace popdist::train
