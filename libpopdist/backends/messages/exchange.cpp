// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/messages/exchange.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "libpopdist/src/group/collective_call.h"

namespace popdist::backends {
namespace {

// A connection that breaks is mostly a process that has died: the launcher will say better how.
constexpr std::chrono::milliseconds kTimeoutForEndNotice{2000};
// Who waits looks for notes every 50 ms at least.
constexpr std::chrono::milliseconds kTimeoutForAnswers{500};

std::string rankText(int rank) {
  return "rank " + std::to_string(rank);
}

}  // namespace

Failure Exchange::run(const Outgoing& outgoing, const Incoming& incoming) {
  FrameHead head = head_;
  head.transfer_bytes = outgoing.bytes.size();
  std::size_t sent = 0;
  std::size_t received = 0;
  bool sending = outgoing.to >= 0;
  bool receiving = incoming.from >= 0;
  while (sending || receiving) {
    bool progressed = false;
    while (sending) {
      const auto piece =
          outgoing.bytes.subspan(sent, std::min(kMostPayloadBytes, outgoing.bytes.size() - sent));
      if (!fabric_.trySend(outgoing.to, {head, piece})) break;
      progressed = true;
      sent += piece.size();
      sending = sent < outgoing.bytes.size();
    }
    while (receiving) {
      const std::optional<Frame> frame = fabric_.front(incoming.from);
      if (!frame) break;
      progressed = true;
      if (Failure failure = take(incoming, *frame, received); !failure.ok()) return failure;
      fabric_.pop(incoming.from);
      receiving = received < incoming.bytes;
    }
    if (progressed) continue;
    std::vector<std::int32_t> awaited;
    if (receiving) awaited.push_back(incoming.from);
    if (sending) awaited.push_back(outgoing.to);
    if (Failure failure = idle(awaited); !failure.ok()) return failure;
  }
  return {};
}

Failure Exchange::flush() {
  while (!fabric_.allSent()) {
    if (Failure failure = idle({}); !failure.ok()) return failure;
  }
  return {};
}

Failure Exchange::take(const Incoming& incoming, const Frame& frame, std::size_t& received) {
  const FrameHead& theirs = frame.head;
  if (theirs.sequence != head_.sequence || theirs.key != head_.key || theirs.count != head_.count) {
    return {
        .status = pop::failedPrecondition(
            rankText(incoming.from) + " calls " + group::describeCall(theirs.key, theirs.count, "") +
            " as call " + std::to_string(theirs.sequence) + " of this communicator, while rank " +
            std::to_string(info_.rank) + " calls " + group::describeCall(head_.key, head_.count, tensor_) +
            " as call " + std::to_string(head_.sequence)),
        .peer_rank = incoming.from};
  }
  const std::size_t due = std::min(kMostPayloadBytes, incoming.bytes - received);
  if (theirs.transfer_bytes != incoming.bytes || frame.payload.size() != due) {
    return {.status = pop::failedPrecondition(
                rankText(incoming.from) + " sends " + std::to_string(theirs.transfer_bytes) +
                " bytes to rank " + std::to_string(info_.rank) + ", which expects " +
                std::to_string(incoming.bytes) + ": the counts contradict each other"),
            .peer_rank = incoming.from};
  }
  come_.insert(incoming.from);
  if (!frame.payload.empty()) incoming.sink(received, frame.payload);
  received += frame.payload.size();
  return {};
}

// Nothing moves: is there still hope? If so, sleeps a little.
Failure Exchange::idle(std::span<const std::int32_t> awaited) {
  if (Failure failure = lost(awaited); !failure.ok()) return failure;
  if (Failure theirs = told(); !theirs.ok()) return theirs;
  if (!std::exchange(has_waited_, true)) came_late_ = !waits_.empty();
  if (Failure failure = broken(awaited); !failure.ok()) return failure;
  const bool too_long = Fabric::Clock::now() >= deadline_ || info_.time_is_up(info_.library) != 0;
  if (too_long || !waits_.empty()) return late(awaited);
  fabric_.wait();
  return {};
}

// Why another member has given up; remembers who only waits.
Failure Exchange::told() {
  while (const auto note = fabric_.nextNote()) {
    if (std::optional<Failure> failure = failureOf(*note)) return *std::move(failure);
    if (std::optional<Wait> wait = waitOf(*note)) waits_.push_back(*std::move(wait));
  }
  return {};
}

// Silence does not tell who has not come from who waits for that one in turn, and the first whose time is up
// may be far from it. So it asks: all who are in the call answer with their own waits, but not who comes
// after the question. The first who has heard them tells who is to blame, which is also what the late one
// will find.
Failure Exchange::late(std::span<const std::int32_t> awaited) {
  if (!came_late_) {
    const Wait own{.rank = info_.rank, .awaited = {awaited.begin(), awaited.end()}};
    const std::string note = noteOf(own);
    fabric_.tell(std::as_bytes(std::span(note)));
    waits_.push_back(own);
  }
  const Fabric::Deadline answered = Fabric::Clock::now() + kTimeoutForAnswers;
  while (Fabric::Clock::now() < answered) {
    if (Failure failure = lost(awaited); !failure.ok()) return failure;
    if (Failure theirs = told(); !theirs.ok()) return theirs;
    fabric_.wait();
  }
  if (const std::optional<std::int32_t> rank = absent()) {
    return {.status = {pop::Code::kDeadlineExceeded, rankText(*rank) + " has not come before the deadline"},
            .peer_rank = *rank};
  }
  const std::string who =
      awaited.empty() ? "what has been sent" : rankText(awaited.front()) + ", which has come,";
  return {.status = {pop::Code::kDeadlineExceeded, who + " is held up by others beyond the deadline"}};
}

// The lowest that is waited for and has neither sent anything nor answered.
std::optional<std::int32_t> Exchange::absent() const {
  std::set<std::int32_t> present = come_;
  std::set<std::int32_t> awaited;
  for (const Wait& wait : waits_) {
    present.insert(wait.rank);
    awaited.insert(wait.awaited.begin(), wait.awaited.end());
  }
  const auto found = std::find_if(awaited.begin(), awaited.end(),
                                  [&](std::int32_t rank) { return !present.contains(rank); });
  return found == awaited.end() ? std::nullopt : std::optional(*found);
}

// One that has failed is missed by everybody, one that has left well only by those who wait for it: of that
// the others must be told.
Failure Exchange::lost(std::span<const std::int32_t> awaited) const {
  const Failure failure = missed(awaited);
  if (failure.ok()) return {};
  return {.status = failure.status, .peer_rank = failure.peer_rank, .known_to_all = !missed({}).ok()};
}

Failure Exchange::missed(std::span<const std::int32_t> awaited) const {
  std::array<char, 512> text{};
  const std::int32_t rank = info_.ended(info_.library, awaited.data(),
                                        static_cast<std::int32_t>(awaited.size()), text.data(), text.size());
  if (rank < 0) return {};
  return {.status = pop::unavailable(text.data()), .peer_rank = rank};
}

Failure Exchange::broken(std::span<const std::int32_t> awaited) {
  for (const std::int32_t rank : awaited) {
    const std::string why = fabric_.broken(rank);
    if (why.empty()) continue;
    const auto now = Fabric::Clock::now();
    if (!broken_since_) broken_since_ = now;
    if (now - *broken_since_ < kTimeoutForEndNotice) return {};
    return {.status = pop::unavailable("the connection to " + rankText(rank) + " has broken: " + why),
            .peer_rank = rank};
  }
  return {};
}

}  // namespace popdist::backends
