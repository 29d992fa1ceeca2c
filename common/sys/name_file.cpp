// SPDX-License-Identifier: Apache-2.0
#include "common/sys/name_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "common/sys/fd.h"

namespace pop::sys {

// link() fails if the file exists. On file systems without hard links, an empty file reserves the name first.
int nameFile(const std::string& temporary, const std::string& path, bool replace) {
  if (!replace) {
    if (::link(temporary.c_str(), path.c_str()) == 0) {
      ::unlink(temporary.c_str());
      return 0;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
    const Fd name(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!name.valid()) return errno;
  }
  if (::rename(temporary.c_str(), path.c_str()) == 0) return 0;
  const int error = errno;
  if (!replace) ::unlink(path.c_str());  // the empty one
  return error;
}

int syncDirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Fd file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.valid()) return errno;
  return ::fsync(file.get()) == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: it has nothing to sync
}

}  // namespace pop::sys
