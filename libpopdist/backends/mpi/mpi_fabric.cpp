// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/mpi_fabric.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>

namespace popdist::backends {
namespace {

constexpr std::size_t kMaxSends = 8;  ///< under way to one member
constexpr std::size_t kPosted = 4;    ///< receives that wait for one member
constexpr std::chrono::microseconds kBetweenLooks{50};

// Follows the bytes of a message. If a sender dies, MPI may report a receive as complete though the message's
// end never arrived: its place then holds an older message's data, or memory that was never received into.
struct Trailer {
  std::uint64_t number = 0;  ///< number of the message to this member, from 1
};

constexpr std::size_t kMaxLastBytes = 2048;
constexpr std::size_t kMaxTransferBytes = kMaxMessageBytes + sizeof(Trailer);

MPI_Comm communicator() {
  return MpiWorld::ofProcess().communicator();
}

}  // namespace

const char* const kBackendName = "mpi";

pop::Result<std::unique_ptr<Fabric>> makeFabric(const PopdistGroupInfo& info) {
  return std::unique_ptr<Fabric>(std::make_unique<MpiFabric>(info, MpiWorld::offer()));
}

pop::Status MpiFabric::connect(const std::vector<std::string>& addresses) {
  MpiWorld& world = MpiWorld::ofProcess();
  if (!world.isStarted()) {
    if (pop::Status status = world.start(info_, addresses); !status.ok()) return status;
  }
  last_ = newTransfer(kMaxLastBytes + sizeof(Trailer));
  postLast();
  return {};
}

void MpiFabric::postLast() {
  last_->request = MPI_REQUEST_NULL;
  MPI_Irecv(last_->bytes.get(), static_cast<int>(kMaxLastBytes + sizeof(Trailer)), MPI_BYTE, MPI_ANY_SOURCE,
            lastTag(), communicator(), &last_->request);
}

// If the receive fails no further one is posted: mostly a process has died, which the launcher reports.
void MpiFabric::takeLast() {
  int complete = 0;
  MPI_Status status;
  if (last_->request == MPI_REQUEST_NULL || MPI_Test(&last_->request, &complete, &status) != MPI_SUCCESS ||
      complete == 0)
    return;
  int bytes = 0;
  if (MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < static_cast<int>(sizeof(Trailer)))
    return;
  for (int rank = 0; rank < info_.ranks; ++rank) {
    if (worldRank(rank) != status.MPI_SOURCE) continue;
    const std::byte* const begin = last_->bytes.get();
    peerAt(rank).last.assign(begin, begin + bytes - sizeof(Trailer));
    peerAt(rank).failure = pop::unavailable("it aborted the call");
  }
  postLast();
}

// Memory that MPI still uses: messages to a member that no longer receives, and messages that have begun to
// arrive from a member that has died. MPI_Wait would never return for them.
void MpiFabric::keepForEver(std::unique_ptr<Transfer> transfer) {
  static std::mutex mutex;
  static auto& kept = *new Transfers;  // not destroyed at exit, when MPI may still read it
  const std::lock_guard lock(mutex);
  kept.push_back(std::move(transfer));
}

MpiFabric::~MpiFabric() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  const auto letGo = [](std::unique_ptr<Transfer>& transfer) {
    int complete = 0;
    MPI_Test(&transfer->request, &complete, MPI_STATUS_IGNORE);
    if (complete == 0) keepForEver(std::move(transfer));
  };
  const auto cancel = [&](std::unique_ptr<Transfer>& transfer) {
    if (transfer->request != MPI_REQUEST_NULL) MPI_Cancel(&transfer->request);
    letGo(transfer);
  };
  if (last_) cancel(last_);
  for (Peer& each : peers_) {
    for (auto& transfer : each.receives) cancel(transfer);
    for (auto& transfer : each.sends) letGo(transfer);
  }
}

std::unique_ptr<MpiFabric::Transfer> MpiFabric::newTransfer(std::size_t bytes) {
  auto transfer = std::make_unique<Transfer>();
  transfer->bytes = std::make_unique<std::byte[]>(bytes);
  return transfer;
}

bool MpiFabric::isComplete(Transfer& transfer, Peer& peer) {
  if (transfer.request == MPI_REQUEST_NULL) return true;
  int complete = 0;
  MPI_Status status;
  if (const int failed = MPI_Test(&transfer.request, &complete, &status); failed != MPI_SUCCESS) {
    peer.failure = pop::unavailable(mpiError(failed));
    return false;
  }
  if (complete != 0) MPI_Get_count(&status, MPI_BYTE, &transfer.count);
  return complete != 0;
}

bool MpiFabric::isDelivered(int to) {
  Peer& peer = peerAt(to);
  while (!peer.sends.empty() && isComplete(*peer.sends.front(), peer)) peer.sends.pop_front();
  return peer.sends.empty() || !peer.failure.ok();
}

std::size_t MpiFabric::trySend(int to, std::span<const std::byte> first, std::span<const std::byte> second) {
  const bool is_full = !isDelivered(to) && peerAt(to).sends.size() >= kMaxSends;
  if (is_full || !peerAt(to).failure.ok()) return 0;
  first = first.first(std::min(first.size(), kMaxMessageBytes));
  second = second.first(std::min(second.size(), kMaxMessageBytes - first.size()));
  send(to, tag(), first, second);
  return first.size() + second.size();
}

// Uses another tag: earlier messages arrive only while both are in MPI's calls, and may be too long to arrive
// at all.
void MpiFabric::close(int to, std::span<const std::byte> last) {
  send(to, lastTag(), last, {});
}

void MpiFabric::send(int to, int tag, std::span<const std::byte> first, std::span<const std::byte> second) {
  Peer& peer = peerAt(to);
  const Trailer trailer{++peer.messages_sent};
  const std::size_t bytes = first.size() + second.size() + sizeof(trailer);
  auto transfer = std::make_unique<Transfer>();
  transfer->bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::byte* end = std::copy(first.begin(), first.end(), transfer->bytes.get());
  end = std::copy(second.begin(), second.end(), end);
  std::memcpy(end, &trailer, sizeof(trailer));
  const int failed = MPI_Isend(transfer->bytes.get(), static_cast<int>(bytes), MPI_BYTE, worldRank(to), tag,
                               communicator(), &transfer->request);
  if (failed != MPI_SUCCESS) peer.failure = pop::unavailable(mpiError(failed));
  peer.sends.push_back(std::move(transfer));
}

void MpiFabric::post(int from, std::unique_ptr<Transfer> transfer) {
  Peer& peer = peerAt(from);
  const int failed = MPI_Irecv(transfer->bytes.get(), static_cast<int>(kMaxTransferBytes), MPI_BYTE,
                               worldRank(from), tag(), communicator(), &transfer->request);
  if (failed != MPI_SUCCESS) peer.failure = pop::unavailable(mpiError(failed));
  peer.receives.push_back(std::move(transfer));
}

std::span<const std::byte> MpiFabric::tryReceive(int from) {
  Peer& peer = peerAt(from);
  while (peer.receives.size() < kPosted) post(from, newTransfer(kMaxTransferBytes));
  Transfer& oldest = *peer.receives.front();
  if (!isComplete(oldest, peer)) return {};
  Trailer trailer;
  const std::size_t bytes =
      std::max(static_cast<std::size_t>(oldest.count), sizeof(trailer)) - sizeof(trailer);
  std::memcpy(&trailer, oldest.bytes.get() + bytes, sizeof(trailer));
  if (trailer.number != peer.messages_taken + 1) {
    peer.failure = pop::unavailable("MPI received a message without its trailer");
    return {};
  }
  return std::span(oldest.bytes.get(), bytes).subspan(peer.released);
}

void MpiFabric::release(int from, std::size_t bytes) {
  Peer& peer = peerAt(from);
  peer.released += bytes;
  if (peer.released + sizeof(Trailer) < static_cast<std::size_t>(peer.receives.front()->count)) return;
  peer.released = 0;
  ++peer.messages_taken;
  auto transfer = std::move(peer.receives.front());
  peer.receives.pop_front();
  post(from, std::move(transfer));
}

// MPI makes progress only inside calls. The caller has yielded its core often enough before.
void MpiFabric::wait(std::chrono::milliseconds) {
  takeLast();
  std::this_thread::sleep_for(kBetweenLooks);
}

}  // namespace popdist::backends
