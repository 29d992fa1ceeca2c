// SPDX-License-Identifier: Apache-2.0
#include "runner/store/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/sys/whole_file.h"

namespace pop::runner {

Result<AppendFile> AppendFile::open(const std::string& path, std::uint64_t size) {
  AppendFile file;
  POP_ASSIGN_OR_RETURN(file.file_, sys::openRegular(path, O_RDWR | O_CREAT));
  file.path_ = path;
  file.size_ = size;
  struct stat status {};
  if (::fstat(file.file_.get(), &status) != 0) return errnoStatus("looking at " + path, errno);
  // Not if it changes nothing: ext4 writes a file to the disk when it is closed that was cut to nothing
  // before.
  if (static_cast<std::uint64_t>(status.st_size) != size) POP_RETURN_IF_ERROR(file.cut());
  return file;
}

Status AppendFile::append(std::string_view bytes) {
  if (has_rest_) POP_RETURN_IF_ERROR(cut());
  std::uint64_t end = size_;
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(end));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      Status error = errnoStatus("writing " + path_, written < 0 ? errno : ENOSPC);
      has_rest_ = true;
      static_cast<void>(cut());  // tried again by the next append
      return error;
    }
    end += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ = end;
  return {};
}

Status AppendFile::sync() {
  return sys::syncFile(file_, path_);
}

Status AppendFile::cut() {
  while (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) {
    if (errno != EINTR) return errnoStatus("cutting " + path_, errno);
  }
  has_rest_ = false;
  return {};
}

}  // namespace pop::runner
