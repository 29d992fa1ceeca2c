// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmix/connection_user.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "common/sys/fd.h"

namespace pop::pmix {
namespace {

constexpr const char* kTable = "/proc/net/tcp";

// The kernel writes the table piece by piece: a connection that ends meanwhile can hide its neighbour.
constexpr int kReadings = 3;

// A socket that its process has closed lives on in another state, and without an inode; its user reads as 0.
constexpr unsigned kEstablished = 1;
bool isHeld(unsigned state, std::uint64_t inode) {
  return state == kEstablished && inode != 0;
}

// ---- asking for one socket

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 request{};
};

struct Answer {
  nlmsghdr header{};
  union {
    inet_diag_msg socket;
    nlmsgerr error;
  };
};

Question questionOf(const TcpEnd& end) {
  Question question;
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.request.sdiag_family = AF_INET;
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_states = 1U << kEstablished;
  inet_diag_sockid& id = question.request.id;
  id.idiag_sport = end.local.sin_port;
  id.idiag_dport = end.remote.sin_port;
  id.idiag_src[0] = end.local.sin_addr.s_addr;
  id.idiag_dst[0] = end.remote.sin_addr.s_addr;
  id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return question;
}

// ---- reading about all of them

constexpr int kColumnBytes = 32;
using Column = std::array<char, kColumnBytes>;

// "0100007F:1F90": the address as a number of this machine, the port as people write it.
std::string endpointText(const sockaddr_in& address) {
  Column text;
  std::snprintf(text.data(), text.size(), "%08" PRIX32 ":%04X", address.sin_addr.s_addr,
                ntohs(address.sin_port));
  return text.data();
}

std::optional<uid_t> userInRow(const std::string& row, const std::string& local, const std::string& remote) {
  Column from;
  Column to;
  unsigned state = 0;
  uid_t user = 0;
  std::uint64_t inode = 0;
  const int found = std::sscanf(row.c_str(), "%*s %31s %31s %x %*s %*s %*s %u %*s %" SCNu64, from.data(),
                                to.data(), &state, &user, &inode);
  if (found != 5 || from.data() != local || to.data() != remote || !isHeld(state, inode)) return std::nullopt;
  return user;
}

}  // namespace

Result<std::optional<uid_t>> askedUserOf(const TcpEnd& end) {
  const sys::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!socket.valid()) return errnoStatus("creating a socket of NETLINK_SOCK_DIAG", errno);
  const Question question = questionOf(end);
  if (::send(socket.get(), &question, sizeof(question), 0) < 0)
    return errnoStatus("asking the kernel about a connection", errno);
  Answer answer{};
  const ssize_t got = ::recv(socket.get(), &answer, sizeof(answer), 0);
  if (got < 0) return errnoStatus("asking the kernel about a connection", errno);
  if (answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error != -ENOENT)
    return errnoStatus("asking the kernel about a connection", -answer.error.error);
  if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
      !isHeld(answer.socket.idiag_state, answer.socket.idiag_inode))
    return std::optional<uid_t>();
  return std::optional<uid_t>(answer.socket.idiag_uid);
}

std::optional<uid_t> listedUserOf(const TcpEnd& end, std::string_view table) {
  const std::string local = endpointText(end.local);
  const std::string remote = endpointText(end.remote);
  while (!table.empty()) {
    const std::string_view row = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(table.size(), row.size() + 1));
    if (row.find(local) == std::string_view::npos) continue;
    if (const std::optional<uid_t> user = userInRow(std::string(row), local, remote)) return user;
  }
  return std::nullopt;
}

Result<uid_t> tcpPeerUser(int socket) {
  TcpEnd other;
  socklen_t local_bytes = sizeof(other.local);
  socklen_t remote_bytes = sizeof(other.remote);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&other.local), &local_bytes) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&other.remote), &remote_bytes) != 0)
    return Status(Code::kNotFound, "the other end of the connection is closed");
  Result<std::optional<uid_t>> user = askedUserOf(other);
  for (int reading = 0; reading < kReadings && !user.ok(); ++reading) {
    POP_ASSIGN_OR_RETURN(const std::string table, sys::readFile(kTable));
    const std::optional<uid_t> listed = listedUserOf(other, table);
    if (listed || reading == kReadings - 1) user = listed;
  }
  if (*user) return **user;
  return Status(Code::kNotFound, "no process holds the other end of the connection");
}

}  // namespace pop::pmix
