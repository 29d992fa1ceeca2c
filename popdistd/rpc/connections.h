// SPDX-License-Identifier: Apache-2.0
// gRPC's connections by the network: how many there may be, and from whom. gRPC tells neither when it closes
// one nor who is behind it, so this looks at descriptors, and calls say who made them. Included by this
// folder only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "common/base/loop.h"
#include "common/base/status.h"

namespace pop::popdistd {

struct ConnectionLimits {
  int most = 16'384;              ///< of all
  int most_unknown = 1'024;       ///< of whom nothing says yet who they are
  int most_unknown_of_one = 256;  ///< of one address
  /// Of one address, however many unknown ones others have: so nobody's crowd locks others out.
  int always_of_one = 8;
};

/// The usual limits, where the process may have `most_descriptors`: some are for the store, HTTP and users of
/// this machine.
ConnectionLimits limitsWithin(std::size_t most_descriptors);

/// From any thread.
class Connections {
 public:
  explicit Connections(ConnectionLimits limits) : limits_(limits) {}

  /// Counts a connected socket, `from` its address and port. kResourceExhausted: there are too many; then it
  /// is not counted.
  Status admit(int socket, const std::string& address, const std::string& port, Clock::time_point now);
  /// Who made a call by it is known.
  void isKnown(const std::string& address, const std::string& port);

 private:
  struct Connection {
    int socket;
    ino_t inode;  ///< of the socket: the descriptor's number may be another's by now
    bool known;
  };
  using Ports = std::map<std::string, Connection>;

  Status room(const std::string& address) const;
  void forgetClosed(Clock::time_point now);

  const ConnectionLimits limits_;
  std::mutex mutex_;
  std::map<std::string, Ports> connections_;  ///< by address and port
  std::map<std::string, int> unknown_of_;     ///< by address
  int count_ = 0;
  int unknown_ = 0;
  Clock::time_point looked_{};
};

}  // namespace pop::popdistd
