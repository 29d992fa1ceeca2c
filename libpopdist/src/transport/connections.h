// SPDX-License-Identifier: Apache-2.0
// All connections of a group's ranks in this process: to ranks of this host through its shared segment, to
// others over TCP.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libpopdist/src/transport/shm/shm_group.h"
#include "libpopdist/src/transport/tcp/tcp_group.h"

namespace popdist::transport {

struct ConnectionsSetup {
  SegmentView segment;
  std::vector<int> local_ranks;               ///< of this process
  std::vector<bool> through_memory;           ///< of each rank of the group; else it is reached over TCP
  TcpSetup tcp;                               ///< needed if any is
  std::chrono::milliseconds call_timeout{0};  ///< for connections that are made only to abandon them
};

class Connections {
 public:
  /// kResourceExhausted when the segment is full, or why this host cannot be reached over TCP.
  static pop::Result<std::unique_ptr<Connections>> create(const ConnectionsSetup& setup);
  ~Connections();

  /// What the others need to reach local rank `rank`; short text.
  std::string address(int rank) const;

  /// The host of an address(), numeric; "" if it is not reached over a network.
  static std::string hostIn(const std::string& address);

  /// `addresses[r]` is the address of rank r, for all ranks of the group. Once, before any endpoint is used.
  pop::Status connect(std::span<const std::string> addresses);

  /// After an error: says abort message to whoever is connected. Nothing can be sent or received any more.
  /// `to_all`: to whoever is not connected yet, too, if they wait for it; takes up to the
  /// setup's `call_timeout` where they do not.
  void abandon(std::span<const std::byte> abort_message, bool to_all);

  Endpoint& endpoint(int local_rank);
  Sleeper& sleeper();
  /// Some ranks are reached over TCP.
  bool overNetwork() const { return tcp_ != nullptr; }

 private:
  class Local;

  explicit Connections(const ConnectionsSetup& setup);
  int indexInMemory(int rank) const;

  const std::vector<int> local_ranks_;
  const std::vector<bool> through_memory_;
  const std::chrono::milliseconds call_timeout_;
  SocketSleeper sleeper_;
  std::unique_ptr<ShmGroup> shm_;  ///< of the ranks through memory, numbered in their order
  std::unique_ptr<TcpGroup> tcp_;
  std::vector<std::unique_ptr<Local>> locals_;
};

}  // namespace popdist::transport
