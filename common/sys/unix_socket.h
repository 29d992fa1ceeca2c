// SPDX-License-Identifier: Apache-2.0
// Unix stream sockets: pairs, abstract names (they leave no file behind), and descriptors passed along with
// bytes.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/sys/awake_clock.h"
#include "common/sys/fd.h"

namespace pop::sys {

Result<std::pair<Fd, Fd>> socketPair();

/// Listens on the abstract name `name`, non-blocking. Any process in this network namespace that knows the
/// name can connect: check peerUser().
Result<Fd> listenAbstract(const std::string& name);
Result<Fd> connectAbstract(const std::string& name);

/// Listens on the file at `path`, non-blocking, in place of one that nobody listens on any more. Whoever may
/// write the file can connect.
Result<Fd> listenPath(const std::string& path);

/// Connects to the file at `path`, non-blocking; never waits. kResourceExhausted: the listener's queue is
/// full.
Result<Fd> connectPath(const std::string& path);

/// Accepts a waiting connection, non-blocking; an invalid Fd if there is none.
Result<Fd> acceptConnection(int listener);

/// The user at the other end of a connected socket.
Result<uid_t> peerUser(int socket);

/// Sends all of `bytes`, with `fds` attached to the first of them. Blocks as the socket does.
Status sendAll(int socket, std::string_view bytes, std::span<const int> fds = {});
/// The same with a deadline, on any socket. kDeadlineExceeded: a part of `bytes` may have been sent.
Status sendAllUntil(int socket, std::string_view bytes, AwakeClock::time_point deadline);

/// The result of one receive, which never waits. `would_block`: no data yet; otherwise empty `bytes` mean
/// that the other side is gone. Descriptors of two sends never arrive in one receive. `lost_fds`: some or all
/// descriptors that came with these bytes were dropped, because the limit (RLIMIT_NOFILE) is reached.
struct Received {
  std::string bytes;
  std::vector<Fd> fds;
  bool lost_fds = false;
  bool would_block = false;
};
Result<Received> receiveSome(int socket);

}  // namespace pop::sys
