// SPDX-License-Identifier: Apache-2.0
#include "runner/control/runner_socket.h"

#include <fcntl.h>

#include <cerrno>

#include "common/sys/unix_socket.h"

namespace pop::runner {
namespace {

// A socket's path may have 107 bytes. A directory's may have more, so it is reached by its descriptor.
std::string socketIn(const sys::Fd& directory) {
  return "/proc/self/fd/" + std::to_string(directory.get()) + "/socket";
}

Result<sys::Fd> openDirectory(const std::string& path) {
  sys::Fd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return errnoStatus("opening " + path, errno);
  return directory;
}

}  // namespace

Result<sys::Fd> listenForClients(const std::string& directory) {
  POP_ASSIGN_OR_RETURN(const sys::Fd opened, openDirectory(directory));
  return sys::listenPath(socketIn(opened));
}

Result<sys::Fd> connectToRunner(const std::string& directory) {
  POP_ASSIGN_OR_RETURN(const sys::Fd opened, openDirectory(directory));
  Result<sys::Fd> socket = sys::connectPath(socketIn(opened));
  if (!socket.ok() && socket.status().code() != Code::kResourceExhausted)
    return unavailable("the job's runner is gone");
  return socket;
}

}  // namespace pop::runner
