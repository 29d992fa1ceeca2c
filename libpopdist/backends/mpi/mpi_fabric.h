// SPDX-License-Identifier: Apache-2.0
// Frames as MPI messages between two processes, with a tag of each group; progress is made by whoever waits.
#pragma once

#include <mpi.h>

#include <deque>
#include <memory>
#include <vector>

#include "libpopdist/backends/messages/fabric.h"
#include "libpopdist/backends/mpi/mpi_world.h"

namespace popdist::backends {

class MpiFabric final : public Fabric {
 public:
  MpiFabric(const PopdistGroupInfo& info, std::string address)
      : info_(info), address_(std::move(address)), peers_(static_cast<std::size_t>(info.ranks)) {}
  ~MpiFabric() override;

  std::string address() const override { return address_; }
  pop::Status connect(const std::vector<std::string>& addresses, Deadline deadline) override;
  bool trySend(int to, const Frame& frame) override;
  std::optional<Frame> front(int from) override;
  void pop(int from) override;
  bool allSent() override;
  void wait() override;
  std::string broken(int peer) override;
  void tell(std::span<const std::byte> note) override;
  std::optional<std::vector<std::byte>> nextNote() override;

 private:
  /// Memory that MPI reads or writes until the request is complete.
  struct Transfer {
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
    int count = 0;  ///< bytes that have come
  };
  using Transfers = std::deque<std::unique_ptr<Transfer>>;
  struct Peer {
    Transfers sends;     ///< the oldest first
    Transfers receives;  ///< posted in this order
    std::uint64_t frames_sent = 0;
    std::uint64_t frames_taken = 0;
    std::string broken;
  };

  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  int worldRank(int rank) const { return MpiWorld::ofProcess().rankOf(info_.instances[rank]); }
  int tag() const { return static_cast<int>(info_.number * 2); }
  int noteTag() const { return tag() + 1; }
  static void keepForEver(std::unique_ptr<Transfer> transfer);
  bool isComplete(Transfer& transfer, int rank);
  bool sendsAreComplete(int rank);
  void post(int from, std::unique_ptr<Transfer> transfer);
  void postNote();
  void send(int to, int tag, std::unique_ptr<Transfer> transfer);

  const PopdistGroupInfo& info_;
  const std::string address_;
  std::vector<Peer> peers_;
  std::unique_ptr<Transfer> note_;  ///< waits for one of any rank
  int idle_turns_ = 0;
};

}  // namespace popdist::backends
