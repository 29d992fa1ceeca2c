// SPDX-License-Identifier: Apache-2.0
// The native connections: to ranks of this host through its shared segment, to other ranks over TCP.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libpopdist/collectives/messages/transport/connections.h"
#include "libpopdist/collectives/messages/transport/shm/shm_group.h"
#include "libpopdist/collectives/messages/transport/tcp/tcp_group.h"

namespace popdist::transport {

struct NativeSetup {
  SegmentView segment;
  std::vector<int> local_ranks;      ///< this process's
  std::vector<bool> through_memory;  ///< by rank: reached through memory; otherwise over TCP
  TcpSetup tcp;                      ///< needed if any rank is
  std::chrono::milliseconds call_timeout{
      0};  ///< for connections that are made only to send the abort message
};

class NativeConnections final : public Connections {
 public:
  /// Fails with kResourceExhausted when the segment is full, or with the reason why this host cannot be
  /// reached over TCP.
  static pop::Result<std::unique_ptr<Connections>> create(const NativeSetup& setup);
  ~NativeConnections() override;

  std::string address(int rank) const override;
  pop::Status connect(std::span<const std::string> addresses) override;
  /// `to_all` takes up to the setup's `call_timeout` if peers do not answer.
  void abandon(std::span<const std::byte> abort_message, bool to_all) override;
  Endpoint& endpoint(int local_rank) override;
  Sleeper& sleeper() override;
  bool overNetwork() const override { return tcp_ != nullptr; }

 private:
  class Local;

  explicit NativeConnections(const NativeSetup& setup);
  int indexInMemory(int rank) const;

  const std::vector<int> local_ranks_;
  const std::vector<bool> through_memory_;
  const std::chrono::milliseconds call_timeout_;
  SocketSleeper sleeper_;
  std::unique_ptr<ShmGroup> shm_;  ///< connects the ranks reached through memory, numbered in their order
  std::unique_ptr<TcpGroup> tcp_;
  std::vector<std::unique_ptr<Local>> locals_;
};

}  // namespace popdist::transport
