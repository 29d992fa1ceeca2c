// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/shared/meeting.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace popdist::shared {
namespace {

std::string describe(const CallSlot& slot) {
  return exec::describeCall(slot.key, slot.count, slot.tensor.data());
}

}  // namespace

Meeting::Meeting(Place place, exec::PeerMonitor& monitor, bool oversubscribed)
    : place_(std::move(place)),
      waiter_({.control_block = place_.control_block,
               .rank = place_.rank,
               .first_rank = place_.first_rank,
               .monitor = &monitor,
               .oversubscribed = oversubscribed,
               .host_cores = place_.host_cores,
               .has_all_of_host = place_.has_all_of_host,
               .describe = [this](int rank) { return whereIs(rank); },
               .absent = [this] { return absentRanks(); },
               .names = place_.names}) {}

bool Meeting::anyOffers(Offer offer) const {
  for (int rank = 0; rank < place_.ranks; ++rank) {
    if (callSlot(rank).offer == offer) return true;
  }
  return false;
}

CallSlot& Meeting::ownCallSlot(const Call& call) {
  CallSlot& slot = place_.control_block.callSlot(place_.rank, parity());
  slot.key = call.key;
  slot.count = call.count;
  // Most calls have no tensor name; then the cache line that holds it is not touched.
  if (!call.tensor.empty() || slot.tensor.front() != '\0') {
    slot.tensor.fill('\0');
    call.tensor.copy(slot.tensor.data(), kTensorBytes - 1);
  }
  return slot;
}

bool Meeting::exchange(const Call& call, const void* data, std::size_t bytes) {
  begin();
  CallSlot& slot = ownCallSlot(call);
  if (bytes > 0) std::memcpy(slot.data.data(), data, bytes);
  end();
  return awaitAll(call);
}

bool Meeting::meet(const Call& call, const Buffers& buffers) {
  begin();
  CallSlot& slot = ownCallSlot(call);
  const bool in_pieces = buffers.pieces != nullptr;
  slot.input = place_.segment.offsetOf(in_pieces ? buffers.pieces->table() : buffers.input);
  slot.output = in_pieces ? slot.input : place_.segment.offsetOf(buffers.output);
  slot.input_address = reinterpret_cast<std::uintptr_t>(buffers.input);
  slot.output_address = reinterpret_cast<std::uintptr_t>(buffers.output);
  slot.offer = buffers.offer;
  if (!buffers.inline_data.empty())
    std::memcpy(slot.data.data(), buffers.inline_data.data(), buffers.inline_data.size());
  met_ = true;
  return awaitAll(call);
}

bool Meeting::awaitAll(const Call& call) {
  place_.control_block.callSlot(place_.rank, parity()).call.store(call_number_, std::memory_order_release);
  waiter_.wakeSleepers();
  waiter_.yieldCore(
      place_.ranks, call_number_, [this](int rank) -> auto& { return callSlot(rank).call; });
  for (int rank = 0; rank < place_.ranks; ++rank) {
    if (rank == place_.rank) continue;
    const CallSlot& theirs = callSlot(rank);
    if (!waiter_.until(theirs.call, call_number_, rank) || !matches(theirs, call, rank)) return false;
  }
  return true;
}

bool Meeting::matches(const CallSlot& theirs, const Call& call, int rank) {
  if (theirs.key == call.key && theirs.count == call.count) [[likely]]
    return true;
  blame(rank, exec::describeMismatch(nameOf(rank), describe(theirs), nameOf(place_.rank),
                                     exec::describeCall(call.key, call.count, call.tensor)));
  return false;
}

void Meeting::blame(int rank, const std::string& why) {
  mismatch_ = {.status = pop::failedPrecondition(why), .peer_rank = place_.first_rank + rank};
}

bool Meeting::awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit) {
  bool ahead = false;
  waiter_.idle([&] { return (ahead = anyoneAhead()) || there(); }, limit);
  return ahead;
}

bool Meeting::anyoneAhead() const {
  for (int rank = 0; rank < place_.ranks; ++rank) {
    if (rank != place_.rank && place_.control_block.callSlot(rank, parity() ^ 1).call.load() > call_number_)
      return true;
  }
  return false;
}

std::vector<int> Meeting::absentRanks() const {
  std::vector<int> absent;
  for (int rank = 0; rank < place_.ranks; ++rank) {
    const std::uint64_t latest = std::max(place_.control_block.callSlot(rank, 0).call.load(),
                                          place_.control_block.callSlot(rank, 1).call.load());
    if (rank != place_.rank && latest < call_number_) absent.push_back(rank);
  }
  return absent;
}

std::string Meeting::whereIs(int rank) const {
  const CallSlot& last =
      place_.control_block.callSlot(rank, 0).call >= place_.control_block.callSlot(rank, 1).call
          ? place_.control_block.callSlot(rank, 0)
          : place_.control_block.callSlot(rank, 1);
  const std::uint64_t number = last.call.load(std::memory_order_acquire);
  if (number == 0) {
    return "it has made no call yet; " + nameOf(place_.rank) + " is in call " + std::to_string(call_number_) +
           ", " + describe(callSlot(place_.rank));
  }
  return (number < call_number_ ? "it has not entered call " + std::to_string(call_number_) + ", " +
                                      describe(callSlot(place_.rank)) + "; its last was call "
                                : "it is in call ") +
         std::to_string(number) + ", " + describe(last);
}

exec::Failure Meeting::abort(exec::Failure failure) {
  AbortFlag& abort_flag = place_.control_block.abortFlag();
  std::uint32_t nobody = 0;
  if (abort_flag.raised.compare_exchange_strong(nobody, 1)) {
    abort_flag.rank = place_.first_rank + place_.rank;
    abort_flag.instance = failure.peer_instance;
    abort_flag.blamed_rank = failure.peer_rank;
    abort_flag.code = static_cast<std::int32_t>(failure.status.code());
    abort_flag.heard = failure.heard ? 1 : 0;
    const std::string& text = failure.status.message();
    const std::size_t length = std::min(text.size(), abort_flag.text.size() - 1);
    std::memcpy(abort_flag.text.data(), text.data(), length);
    abort_flag.text[length] = '\0';
    abort_flag.raised.store(2, std::memory_order_release);
  }
  waiter_.wakeSleepers();
  return failure;
}

}  // namespace popdist::shared
