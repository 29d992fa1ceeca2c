// SPDX-License-Identifier: Apache-2.0
// Sends bytes as MPI messages between two processes, with a tag for each group. Only callers that wait make
// progress.
#pragma once

#include <mpi.h>

#include <deque>
#include <memory>
#include <vector>

#include "libpopdist/backends/fabric/fabric.h"
#include "libpopdist/backends/mpi/mpi_world.h"

namespace popdist::backends {

class MpiFabric final : public Fabric {
 public:
  MpiFabric(const PopdistGroupInfo& info, std::string address)
      : info_(info), address_(std::move(address)), peers_(static_cast<std::size_t>(info.ranks)) {}
  ~MpiFabric() override;

  std::string address() const override { return address_; }
  pop::Status connect(const std::vector<std::string>& addresses) override;
  std::size_t trySend(int to, std::span<const std::byte> first, std::span<const std::byte> second) override;
  std::span<const std::byte> tryReceive(int from) override;
  void release(int from, std::size_t bytes) override;
  bool isDelivered(int to) override;
  pop::Status failure(int peer) override { return peerAt(peer).failure; }
  std::span<const std::byte> lastOf(int peer) override { return peerAt(peer).last; }
  void wait(std::chrono::milliseconds timeout) override;
  void close(int to, std::span<const std::byte> last) override;

 private:
  /// Memory that MPI reads or writes until the request is complete.
  struct Transfer {
    std::unique_ptr<std::byte[]> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
    int count = 0;  ///< bytes that have come
  };
  using Transfers = std::deque<std::unique_ptr<Transfer>>;
  struct Peer {
    Transfers sends;     ///< the oldest first
    Transfers receives;  ///< posted in this order
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_taken = 0;
    std::size_t released = 0;  ///< bytes used of the oldest receive
    pop::Status failure;
    std::vector<std::byte> last;  ///< the message with which it has closed
  };

  Peer& peerAt(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  int worldRank(int rank) const { return MpiWorld::ofProcess().rankOf(info_.instances[rank]); }
  int tag() const { return static_cast<int>(info_.number * 2); }
  int lastTag() const { return tag() + 1; }
  static std::unique_ptr<Transfer> newTransfer(std::size_t bytes);
  static void keepForEver(std::unique_ptr<Transfer> transfer);
  bool isComplete(Transfer& transfer, Peer& peer);
  void send(int to, int tag, std::span<const std::byte> first, std::span<const std::byte> second);
  void post(int from, std::unique_ptr<Transfer> transfer);
  void postLast();
  void takeLast();

  const PopdistGroupInfo& info_;
  const std::string address_;
  std::vector<Peer> peers_;
  std::unique_ptr<Transfer> last_;  ///< waits for what any rank closes with
};

}  // namespace popdist::backends
