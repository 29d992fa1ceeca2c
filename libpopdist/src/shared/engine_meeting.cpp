// SPDX-License-Identifier: Apache-2.0
// How the ranks of an engine meet: notes of their calls, which are compared.
#include <algorithm>
#include <cstring>
#include <utility>

#include "libpopdist/src/shared/engine.h"

namespace popdist::shared {

void Engine::begin() {
  if (!std::exchange(call_.begun, true)) ++call_number_;
}

void Engine::end() {
  call_ = {};
  listed_.clear();
}

Note& Engine::ownNote(const Call& call) {
  Note& note = control_block_.note(place_.rank, parity());
  note.key = call.key;
  note.count = call.count;
  // Most calls have no name; the line where it lies is left alone then.
  if (!call.tensor.empty() || note.tensor.front() != '\0') {
    note.tensor.fill('\0');
    call.tensor.copy(note.tensor.data(), kTensorBytes - 1);
  }
  return note;
}

bool Engine::exchange(const Call& call, const void* data, std::size_t bytes) {
  begin();
  Note& note = ownNote(call);
  if (bytes > 0) std::memcpy(note.data.data(), data, bytes);
  end();
  return awaitAll(call);
}

bool Engine::meet(const Call& call, const Buffers& buffers) {
  begin();
  Note& note = ownNote(call);
  const bool in_pieces = buffers.pieces != nullptr;
  note.input = place_.segment.offsetOf(in_pieces ? buffers.pieces->table() : buffers.input);
  note.output = in_pieces ? note.input : place_.segment.offsetOf(buffers.output);
  note.input_address = reinterpret_cast<std::uintptr_t>(buffers.input);
  note.output_address = reinterpret_cast<std::uintptr_t>(buffers.output);
  note.offer = buffers.offer;
  if (!buffers.note.empty()) std::memcpy(note.data.data(), buffers.note.data(), buffers.note.size());
  call_.met = true;
  return awaitAll(call);
}

bool Engine::awaitAll(const Call& call) {
  control_block_.note(place_.rank, parity()).call.store(call_number_, std::memory_order_release);
  waiter_.tell();
  waiter_.yieldCore(
      place_.ranks,
      call_number_, [this](int rank) -> auto& { return control_block_.note(rank, parity()).call; });
  for (int rank = 0; rank < place_.ranks; ++rank) {
    if (rank == place_.rank) continue;
    const Note& theirs = control_block_.note(rank, parity());
    if (!waiter_.until(theirs.call, call_number_, rank) || !matches(theirs, call, rank)) return false;
  }
  return true;
}

bool Engine::matches(const Note& theirs, const Call& call, int rank) {
  if (theirs.key == call.key && theirs.count == call.count) [[likely]]
    return true;
  const int known_as = place_.first_rank + rank;
  mismatch_ = {.status = pop::failedPrecondition(
                   exec::describeMismatch(exec::nameOfRank(place_.names, known_as), describe(theirs),
                                          exec::describeCall(call.key, call.count, call.tensor))),
               .peer_rank = known_as};
  return false;
}

// A table means something while its rank is in the call: before the tables it is cheaper to look than to read
// anything, and after them they are believed only if nobody has begun to give up.
bool Engine::readPieces(const Call& call) {
  if (!anyOffers(Offer::kPieces)) return true;
  if (peerHasGivenUp()) return false;
  const std::size_t bytes = call.count * sizeOf(exec::CallKey::unpacked(call.key).type);
  for (int distance = 0; distance < place_.ranks; ++distance) {  // the own ones first: others are to blame
    const int rank = (place_.rank + distance) % place_.ranks;
    const Note& note = control_block_.note(rank, parity());
    if (note.offer != Offer::kPieces) continue;
    const std::string odd =
        listed_.read(rank, place_.segment.base + note.input, place_.segment.bytes - note.input, bytes);
    if (odd.empty()) continue;
    if (!peerIsGivingUp())
      mismatch_ = {.status = pop::failedPrecondition(
                       exec::nameOfRank(place_.names, place_.first_rank + rank) + ": " + odd),
                   .peer_rank = place_.first_rank + rank};
    return false;
  }
  return !peerIsGivingUp();
}

bool Engine::awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit) {
  bool ahead = false;
  waiter_.idle([&] { return (ahead = anyoneAhead()) || there(); }, limit);
  return ahead;
}

bool Engine::anyoneAhead() const {
  for (int rank = 0; rank < place_.ranks; ++rank) {
    if (rank != place_.rank && control_block_.note(rank, parity() ^ 1).call.load() > call_number_)
      return true;
  }
  return false;
}

std::vector<int> Engine::absentRanks() const {
  std::vector<int> absent;
  for (int rank = 0; rank < place_.ranks; ++rank) {
    const std::uint64_t latest =
        std::max(control_block_.note(rank, 0).call.load(), control_block_.note(rank, 1).call.load());
    if (rank != place_.rank && latest < call_number_) absent.push_back(rank);
  }
  return absent;
}

std::string Engine::whereIs(int rank) const {
  const Note& last = control_block_.note(rank, 0).call >= control_block_.note(rank, 1).call
                         ? control_block_.note(rank, 0)
                         : control_block_.note(rank, 1);
  const std::uint64_t number = last.call.load(std::memory_order_acquire);
  if (number == 0) {
    return "it has made no call yet, this rank is in call " + std::to_string(call_number_) + ", " +
           describe(control_block_.note(place_.rank, parity()));
  }
  return (number < call_number_
              ? "it has not come to call " + std::to_string(call_number_) + ", " +
                    describe(control_block_.note(place_.rank, parity())) + "; its last was call "
              : "it is in call ") +
         std::to_string(number) + ", " + describe(last);
}

std::string Engine::describe(const Note& note) const {
  return exec::describeCall(note.key, note.count, note.tensor.data());
}

}  // namespace popdist::shared
