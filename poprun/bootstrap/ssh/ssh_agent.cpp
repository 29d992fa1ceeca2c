// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>

#include "common/base/check.h"
#include "common/sys/unix_socket.h"

namespace pop {
namespace {

// Asking for its keys is the shortest request, and needs no confirmation by the user.
Status answers(int agent, const Wait& wait) {
  constexpr std::chrono::milliseconds kTimeout{5000};
  constexpr std::string_view kWhichKeys("\0\0\0\1\x0b", 5);
  POP_RETURN_IF_ERROR(sys::sendAll(agent, kWhichKeys));
  return Wait(wait.cancellation(), std::min(wait.limit() / 2, kTimeout)).forEvents(agent, POLLIN);
}

}  // namespace

Result<std::unique_ptr<AgentConnection>> AgentConnection::open(const std::string& path, const Wait& wait) {
  {
    POP_ASSIGN_OR_RETURN(const sys::Fd asked, sys::connectPath(path));
    POP_RETURN_IF_ERROR(answers(asked.get(), wait));
  }
  POP_ASSIGN_OR_RETURN(sys::Fd socket, sys::connectPath(path));
  sys::Fd finished(::eventfd(0, EFD_CLOEXEC));
  if (!finished.valid()) return errnoStatus("watching ssh-agent", errno);
  std::unique_ptr<AgentConnection> connection(new AgentConnection(std::move(socket), std::move(finished)));
  POP_RETURN_IF_ERROR(connection->watch(wait));
  return connection;
}

Status AgentConnection::watch(const Wait& wait) {
  try {
    watcher_ = std::thread([this, &wait, left = wait.left()] {
      outcome_ = Wait(wait, left).forEvents(finished_.get(), POLLIN);
      if (!outcome_.ok()) ::shutdown(socket_.get(), SHUT_RDWR);
    });
  } catch (const std::system_error& error) {
    return unavailable("watching ssh-agent: cannot start a thread: " + std::string(error.what()));
  }
  return {};
}

AgentConnection::~AgentConnection() {
  static_cast<void>(finish());
}

sys::Fd AgentConnection::share() const {
  return sys::Fd(::fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0));
}

Status AgentConnection::finish() {
  if (watcher_.joinable()) {
    POP_CHECK(::eventfd_write(finished_.get(), 1) == 0);
    watcher_.join();
  }
  return outcome_;
}

}  // namespace pop
