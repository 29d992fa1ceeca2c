// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/mpi_fabric.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>

namespace popdist::backends {
namespace {

constexpr std::size_t kMostSends = 8;  ///< under way to one member
constexpr std::size_t kPosted = 4;     ///< receives that wait for one member
constexpr int kYields = 2000;          ///< before a waiting member sleeps between its looks
constexpr std::chrono::microseconds kSleep{50};

// Behind a frame's bytes. Where a sender dies, MPI may call a receive complete whose end has never come: what
// is there then is an older frame's, and has its number, or memory that no frame has been in.
struct Trailer {
  FrameHead head;
  std::uint64_t number = 0;  ///< of frames to this member, from 1
};

MPI_Comm communicator() {
  return MpiWorld::ofProcess().communicator();
}

}  // namespace

const char* const kBackendName = "mpi";

pop::Result<std::unique_ptr<Fabric>> makeFabric(const PopdistGroupInfo& info) {
  MpiWorld& world = MpiWorld::ofProcess();
  std::string address = "-";
  if (!world.isStarted()) {
    pop::Result<std::string> offer = world.offer(info);
    if (!offer.ok()) return offer.status();
    address = std::move(offer).value();
  }
  return std::unique_ptr<Fabric>(std::make_unique<MpiFabric>(info, std::move(address)));
}

pop::Status MpiFabric::connect(const std::vector<std::string>& addresses, Deadline) {
  MpiWorld& world = MpiWorld::ofProcess();
  if (!world.isStarted()) {
    if (pop::Status status = world.start(info_, addresses); !status.ok()) return status;
  }
  note_ = std::make_unique<Transfer>();
  note_->bytes.resize(kMostNoteBytes);
  postNote();
  return {};
}

void MpiFabric::postNote() {
  note_->request = MPI_REQUEST_NULL;
  MPI_Irecv(note_->bytes.data(), static_cast<int>(note_->bytes.size()), MPI_BYTE, MPI_ANY_SOURCE, noteTag(),
            communicator(), &note_->request);
}

// What MPI does not let go of: what is still being sent to a member that does not take it any more, and what
// has begun to come from one that has died, for which MPI_Wait would wait.
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
  if (note_) cancel(note_);
  for (Peer& each : peers_) {
    for (auto& transfer : each.receives) cancel(transfer);
    for (auto& transfer : each.sends) letGo(transfer);
  }
}

bool MpiFabric::isComplete(Transfer& transfer, int rank) {
  if (transfer.request == MPI_REQUEST_NULL) return true;
  int complete = 0;
  MPI_Status status;
  if (const int failed = MPI_Test(&transfer.request, &complete, &status); failed != MPI_SUCCESS) {
    peer(rank).broken = mpiError(failed);
    return false;
  }
  if (complete != 0) MPI_Get_count(&status, MPI_BYTE, &transfer.count);
  return complete != 0;
}

bool MpiFabric::sendsAreComplete(int rank) {
  Transfers& sends = peer(rank).sends;
  while (!sends.empty() && isComplete(*sends.front(), rank)) sends.pop_front();
  return sends.empty();
}

void MpiFabric::send(int to, int tag, std::unique_ptr<Transfer> transfer) {
  const int failed = MPI_Isend(transfer->bytes.data(), static_cast<int>(transfer->bytes.size()), MPI_BYTE,
                               worldRank(to), tag, communicator(), &transfer->request);
  if (failed != MPI_SUCCESS) peer(to).broken = mpiError(failed);
  peer(to).sends.push_back(std::move(transfer));
}

bool MpiFabric::trySend(int to, const Frame& frame) {
  if (!sendsAreComplete(to) && peer(to).sends.size() >= kMostSends) return false;
  auto transfer = std::make_unique<Transfer>();
  const Trailer trailer{frame.head, ++peer(to).frames_sent};
  transfer->bytes.resize(frame.payload.size() + sizeof(trailer));
  std::copy(frame.payload.begin(), frame.payload.end(), transfer->bytes.begin());
  std::memcpy(transfer->bytes.data() + frame.payload.size(), &trailer, sizeof(trailer));
  send(to, tag(), std::move(transfer));
  idle_turns_ = 0;
  return true;
}

void MpiFabric::post(int from, std::unique_ptr<Transfer> transfer) {
  transfer->bytes.resize(kMostPayloadBytes + sizeof(Trailer));
  const int failed = MPI_Irecv(transfer->bytes.data(), static_cast<int>(transfer->bytes.size()), MPI_BYTE,
                               worldRank(from), tag(), communicator(), &transfer->request);
  if (failed != MPI_SUCCESS) peer(from).broken = mpiError(failed);
  peer(from).receives.push_back(std::move(transfer));
}

std::optional<Frame> MpiFabric::front(int from) {
  Transfers& receives = peer(from).receives;
  while (receives.size() < kPosted) post(from, std::make_unique<Transfer>());
  Transfer& oldest = *receives.front();
  if (!isComplete(oldest, from)) return std::nullopt;
  Trailer trailer;
  const std::size_t bytes =
      std::max(static_cast<std::size_t>(oldest.count), sizeof(trailer)) - sizeof(trailer);
  std::memcpy(&trailer, oldest.bytes.data() + bytes, sizeof(trailer));
  if (trailer.number != peer(from).frames_taken + 1) {
    peer(from).broken = "MPI has received a frame without its end";
    return std::nullopt;
  }
  return Frame{trailer.head, std::span(oldest.bytes).first(bytes)};
}

void MpiFabric::pop(int from) {
  auto transfer = std::move(peer(from).receives.front());
  peer(from).receives.pop_front();
  ++peer(from).frames_taken;
  post(from, std::move(transfer));
  idle_turns_ = 0;
}

bool MpiFabric::allSent() {
  bool all = true;
  for (int rank = 0; rank < info_.ranks; ++rank) all = sendsAreComplete(rank) && all;
  return all;
}

void MpiFabric::wait() {
  if (++idle_turns_ < kYields)
    ::sched_yield();
  else
    std::this_thread::sleep_for(kSleep);
}

std::string MpiFabric::broken(int rank) {
  return peer(rank).broken;
}

void MpiFabric::tell(std::span<const std::byte> note) {
  for (int rank = 0; rank < info_.ranks; ++rank) {
    if (rank == info_.rank) continue;
    auto transfer = std::make_unique<Transfer>();
    transfer->bytes.assign(note.begin(), note.end());
    send(rank, noteTag(), std::move(transfer));
  }
}

std::optional<std::vector<std::byte>> MpiFabric::nextNote() {
  if (note_->request == MPI_REQUEST_NULL) return std::nullopt;
  int complete = 0;
  MPI_Status status;
  // None comes any more where that fails: mostly as a process has died, of which the launcher tells.
  if (MPI_Test(&note_->request, &complete, &status) != MPI_SUCCESS || complete == 0) return std::nullopt;
  if (MPI_Get_count(&status, MPI_BYTE, &note_->count) != MPI_SUCCESS || note_->count < 0) return std::nullopt;
  std::vector<std::byte> note(note_->bytes.begin(), note_->bytes.begin() + note_->count);
  postNote();
  return note;
}

}  // namespace popdist::backends
