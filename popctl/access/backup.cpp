// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "common/sys/fd.h"
#include "common/sys/random_name.h"
#include "popctl/commands.h"
#include "popctl/report.h"

namespace pop::popctl {
namespace {

// Beside the file that it becomes; goes again if it does not.
class NewFile {
 public:
  explicit NewFile(const std::string& path)
      : path_(path),
        part_(path + '.' + sys::randomName() + ".part"),
        file_(::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)),
        opened_(file_.valid() ? Status() : errnoStatus("writing " + part_, errno)) {}
  ~NewFile() {
    if (file_.valid()) ::unlink(part_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const Status& opened() const { return opened_; }

  Status write(const std::string& bytes) {
    return sys::writeAll(file_.get(), bytes).during("writing " + part_);
  }

  // On the disk, under its name.
  Status keep() {
    if (::fsync(file_.get()) != 0) return errnoStatus("writing " + part_, errno);
    if (::rename(part_.c_str(), path_.c_str()) != 0) return errnoStatus("writing " + path_, errno);
    file_.reset();
    return {};
  }

 private:
  const std::string path_;
  const std::string part_;
  sys::Fd file_;
  const Status opened_;
};

// A regular file would replace a device or a socket.
Status checkPath(const std::string& path) {
  struct stat status {};
  if (path.empty()) return invalidArgument("backup: name the file that the copy becomes");
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return {};
  return invalidArgument("backup: " + path + " is there, and is not a regular file: name another one");
}

Status writeBackup(NewFile& file, ControllerClient& client) {
  Status written;
  const Status sent = client.backup([&](const std::string& bytes) {
    written = file.write(bytes);
    return written.ok();
  });
  POP_RETURN_IF_ERROR(written);
  POP_RETURN_IF_ERROR(sent);
  return file.keep();
}

}  // namespace

int backup(const Command& command, ControllerClient& client) {
  if (const Status checked = checkPath(command.object); !checked.ok()) return unusable(checked);
  NewFile file(command.object);
  if (!file.opened().ok()) return unusable(invalidArgument("backup: " + file.opened().message()));
  const Status done = writeBackup(file, client);
  return done.ok() ? succeeded(command) : failed(command, done);
}

}  // namespace pop::popctl
