// SPDX-License-Identifier: Apache-2.0
// The user at the other end of a TCP connection from this host. libpmix believes what a client says of
// itself.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <optional>
#include <string_view>

#include "common/base/status.h"

namespace pop::pmix {

/// The user who holds the other end of `socket`, an accepted IPv4 connection from this host. kNotFound:
/// nobody holds it any more, or it is not an IPv4 socket.
Result<uid_t> tcpPeerUser(int socket);

/// One end of a connection: where it is, and where the other one is.
struct TcpEnd {
  sockaddr_in local{};
  sockaddr_in remote{};
};

/// The user who holds the end of an established connection; nothing: there is none, or its process has closed
/// it. An error: the kernel does not answer such questions here.
Result<std::optional<uid_t>> askedUserOf(const TcpEnd& end);

/// The same by `table`, which looks as /proc/net/tcp. Everywhere, but reading that takes milliseconds.
std::optional<uid_t> listedUserOf(const TcpEnd& end, std::string_view table);

}  // namespace pop::pmix
