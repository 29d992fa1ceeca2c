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

/// Listens on the abstract name `name`, non-blocking. Anybody on this machine (in this network namespace) who
/// knows the name can connect: check peerUser().
Result<Fd> listenAbstract(const std::string& name);
Result<Fd> connectAbstract(const std::string& name);

/// To the file at `path`, non-blocking; never waits. kResourceExhausted: who listens there lets nobody in
/// now.
Result<Fd> connectPath(const std::string& path);

/// A waiting connection, non-blocking; an invalid Fd when there is none.
Result<Fd> acceptConnection(int listener);

/// The user at the other end of a connected socket.
Result<uid_t> peerUser(int socket);

/// Sends all of `bytes`, with `fds` attached to the first of them. Blocks as the socket does.
Status sendAll(int socket, std::string_view bytes, std::span<const int> fds = {});
/// The same until a deadline at most, on any socket. kDeadlineExceeded: some of them may have been sent.
Status sendAllUntil(int socket, std::string_view bytes, AwakeClock::time_point deadline);

/// What one receive gave; it never waits. `would_block`: nothing there yet; else `bytes` empty: the other
/// side is gone. Descriptors of two sends never come in one; `lost_fds`: of those that came with these bytes
/// some, or all, found no room here (RLIMIT_NOFILE), and are gone.
struct Received {
  std::string bytes;
  std::vector<Fd> fds;
  bool lost_fds = false;
  bool would_block = false;
};
Result<Received> receiveSome(int socket);

}  // namespace pop::sys
