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

}  // namespace pop::sys
