// SPDX-License-Identifier: Apache-2.0
#include "agent/tls/file_set.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/sys/fd.h"
#include "common/sys/name_file.h"

namespace pop::agent {

FileSet::~FileSet() {
  for (const Pending& each : pending_) ::unlink(each.temporary.c_str());
}

Status FileSet::add(const std::string& name, const std::string& content, bool secret, bool replace) {
  Pending pending{directory_ + '/' + '.' + name + '.' + std::to_string(::getpid()), directory_ + '/' + name,
                  replace};
  ::unlink(pending.temporary.c_str());  // of a process that had our number, and was killed
  const sys::Fd file(::open(pending.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return errnoStatus("making " + pending.path, errno);
  pending_.push_back(pending);
  POP_RETURN_IF_ERROR(sys::writeAll(file.get(), content).during("writing " + pending.path));
  if (!secret && ::fchmod(file.get(), 0644) != 0)
    return errnoStatus("making readable for all: " + pending.path, errno);
  if (::fsync(file.get()) != 0) return errnoStatus("writing " + pending.path, errno);
  return {};
}

Status FileSet::commit() {
  std::vector<std::string> made;
  for (const Pending& each : pending_) {
    const int error = sys::nameFile(each.temporary, each.path, each.replace);
    if (error == 0) {
      if (!each.replace) made.push_back(each.path);
      continue;
    }
    for (const std::string& path : made) ::unlink(path.c_str());
    return errnoStatus("making " + each.path, error);
  }
  pending_.clear();
  return {};
}

}  // namespace pop::agent
