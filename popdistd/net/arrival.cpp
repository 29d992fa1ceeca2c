// SPDX-License-Identifier: Apache-2.0
#include "popdistd/net/arrival.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace pop::popdistd {
namespace {

// After a recv() that brought nothing: whether there may still come something.
Result<std::optional<End>> nothing(ssize_t count) {
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<End>();
  return unavailable("the connection has ended");
}

}  // namespace

Arrival::~Arrival() {
  if (!header_.empty() && header_.size() < kClientHeaderBytes) check_->refused(peer_, "it is cut short");
}

Result<std::optional<End>> Arrival::look() {
  if (header_.empty()) {
    char first = 0;
    if (const ssize_t count = ::recv(socket_, &first, 1, MSG_PEEK); count <= 0) return nothing(count);
    if (first != kClientHeaderBegin) return std::optional(peer_);
  }
  std::array<char, kClientHeaderBytes> bytes{};
  const ssize_t count = ::recv(socket_, bytes.data(), kClientHeaderBytes - header_.size(), 0);
  if (count <= 0) return nothing(count);
  header_.append(bytes.data(), static_cast<std::size_t>(count));
  if (header_.size() < kClientHeaderBytes) return std::optional<End>();
  POP_ASSIGN_OR_RETURN(End client, check_->clientIn(header_, peer_));
  return std::optional(std::move(client));
}

}  // namespace pop::popdistd
