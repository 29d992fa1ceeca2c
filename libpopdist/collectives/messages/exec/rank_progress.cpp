// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/exec/rank_progress.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "common/base/check.h"
#include "libpopdist/collectives/messages/exec/abort_message.h"
#include "libpopdist/internal/fold.h"

namespace popdist::exec {
namespace {

using plan::StepKind;

// Bytes fetched together with a header, so that transports which must fetch need only one call for short
// messages.
constexpr std::size_t kReadAheadBytes = 8 << 10;

constexpr const char* kNotGenuine = " does not match: a message from it was forged or damaged";

std::string callOf(const Header& header) {
  return describeCall(header.key, header.count, header.tensorName());
}

// Numbers in texts start at 1.
std::string numberedCallOf(const Header& header) {
  return callOf(header) + " as call " + std::to_string(header.sequence + 1);
}

std::string mismatchOf(const std::string& rank, const Header& theirs, const std::string& own_rank,
                       const Header& mine) {
  if (theirs.sequence != mine.sequence)
    return describeMismatch(rank, numberedCallOf(theirs), own_rank, numberedCallOf(mine));
  if (!theirs.isOfCall(mine)) return describeMismatch(rank, callOf(theirs), own_rank, callOf(mine));
  return rank + " does not match: in " + callOf(mine) + " it sends " + std::to_string(theirs.message_bytes) +
         " bytes, " + own_rank + " expects " + std::to_string(mine.message_bytes);
}

// The header of the next message from a peer, if it has arrived.
struct Begun {
  transport::ConstHead head;
  Header header;
};
std::optional<Begun> beginningOf(transport::Connection& connection) {
  const std::span<const std::byte> ready = connection.peek();
  if (ready.size() < transport::kHeadBytes) return std::nullopt;
  Begun begun{ready.first<transport::kHeadBytes>(), {}};
  std::memcpy(&begun.header, begun.head.data(), sizeof(begun.header));
  return begun;
}

}  // namespace

RankProgress::RankProgress(const Call& call, const RankWork& work, const Waiting& waiting)
    : call_(call),
      work_(work),
      waiting_(waiting),
      element_bytes_(sizeOf(call.type)),
      scratch_(std::make_unique_for_overwrite<std::byte[]>(work.plan->scratch_count * element_bytes_)) {
  startRound();
}

bool RankProgress::finished(const Active& active) const {
  return active.header_moved == transport::kHeadBytes &&
         active.bytes_moved == active.step->count * element_bytes_;
}

bool RankProgress::advance(Active& active) {
  return isReceive(active.step->kind) ? receive(active) : send(active);
}

bool RankProgress::send(Active& active) {
  transport::Connection& connection = work_.endpoint->peer(active.step->peer);
  const std::size_t total = active.step->count * element_bytes_;
  if (!active.sealed) {
    const Header header = headerOf(call_, total);
    std::memcpy(active.head.data(), &header, sizeof(header));
    active.sealed = connection.seal(active.head);
    if (!active.sealed) return false;
  }
  const std::span<const std::byte> head = std::span(active.head).subspan(active.header_moved);
  const auto rest =
      total == 0 ? std::span<const std::byte>()
                 : std::span(source(active.step->from) + active.bytes_moved, total - active.bytes_moved);
  const std::size_t sent = connection.trySendBoth(head, rest);
  const std::size_t of_head = std::min(sent, head.size());
  active.header_moved += of_head;
  active.bytes_moved += sent - of_head;
  has_sent_ |= sent > 0;
  if (finished(active)) connection.finishSend();
  return sent > 0;
}

bool RankProgress::receive(Active& active) {
  transport::Connection& connection = work_.endpoint->peer(active.step->peer);
  const bool header_moved = active.header_moved < transport::kHeadBytes && receiveHeader(active, connection);
  if (active.header_moved < transport::kHeadBytes) return false;
  const std::size_t part = active.step->count == 0 ? 0 : receiveElements(active, connection);
  active.bytes_moved += part;
  if (finished(active)) connection.finishReceive();
  return header_moved || part > 0;
}

std::size_t RankProgress::receiveElements(const Active& active, transport::Connection& connection) {
  if (active.step->kind == StepKind::kRecvReduce) return receiveAndReduce(active, connection);
  const std::size_t total = active.step->count * element_bytes_;
  return connection.tryReceive({target(active.step->to) + active.bytes_moved, total - active.bytes_moved});
}

// The header is one aligned block: it arrives as a whole or not at all.
bool RankProgress::receiveHeader(Active& active, transport::Connection& connection) {
  if (refusal_) return false;
  if (abort_message_) return active.step->peer == abort_message_->peer && receiveAbortMessage(connection);
  const std::size_t total = active.step->count * element_bytes_;
  const bool straight = active.step->kind == StepKind::kRecv;
  const Header mine = headerOf(call_, total);
  const int peer = active.step->peer;
  while (!refusal_) {
    connection.fetch(transport::kHeadBytes + (straight ? std::min(total, kReadAheadBytes) : total));
    const std::optional<Begun> begun = beginningOf(connection);
    if (!begun) return false;
    const Header& theirs = begun->header;
    if (!connection.isGenuine(begun->head)) {
      refuse(peer, nameOf(peer) + kNotGenuine);
    } else if (isAbortMessage(theirs)) {
      return beginAbortMessage(connection, peer, theirs);
    } else if (theirs.matches(mine)) {
      hear(peer);
      connection.consume(transport::kHeadBytes);
      active.header_moved = transport::kHeadBytes;
      return true;
    } else if (!hearNote(connection, peer, theirs)) {  // any number of notes may lie before the message
      refuse(peer, mismatchOf(nameOf(peer), theirs, nameOf(work_.rank), mine));
    }
  }
  return false;
}

bool RankProgress::beginAbortMessage(transport::Connection& connection, int peer, const Header& header) {
  connection.consume(transport::kHeadBytes);
  abort_message_ = AbortMessage{header, {}, peer};
  return receiveAbortMessage(connection);
}

// Nothing follows an abort message on its connection. If the connection ends in the middle of one, its rest
// will never come.
bool RankProgress::receiveAbortMessage(transport::Connection& connection) {
  std::string& text = abort_message_->text;
  const std::size_t known = text.size();
  text.resize(abort_message_->header.message_bytes);
  const std::size_t more = connection.tryReceive(std::as_writable_bytes(std::span(text).subspan(known)));
  text.resize(known + more);
  const bool whole = text.size() == abort_message_->header.message_bytes;
  if (whole || (more == 0 && !connection.failure().ok())) {
    hearFailure(abort_message_->header, whole ? text : text + "…", abort_message_->peer);
  }
  return more > 0;
}

void RankProgress::hearFailure(const Header& header, std::string text, int from) {
  refusal_ = failureOf(header, std::move(text));
  // The failed rank may have waited for this one: then its message blames us, and we blame the sender.
  if (refusal_->peer_rank == work_.rank) refusal_->peer_rank = from;
}

// Messages that arrived before the abort message are handled first.
bool RankProgress::hearAbortBeside(transport::Connection& connection, int peer) {
  const std::span<const std::byte> message = connection.abortMessage();
  if (message.size() < transport::kHeadBytes) return false;
  connection.fetch(transport::kHeadBytes);
  if (!connection.peek().empty()) return false;
  Header header;
  std::memcpy(&header, message.data(), sizeof(header));
  const auto text = message.subspan(transport::kHeadBytes);
  if (!isAbortMessage(header) || text.size() != header.message_bytes) return false;
  hearFailure(header, {reinterpret_cast<const char*>(text.data()), text.size()}, peer);
  return true;
}

// A rank that waits in a later call will not send any more what this one expects of it.
bool RankProgress::hearNote(transport::Connection& connection, int peer, const Header& theirs) {
  if (!theirs.isNote()) return false;
  connection.consume(transport::kHeadBytes);
  connection.finishReceive();
  if (theirs.groupOfNote() != call_.group) {
    if (waiting_.heard.empty()) return true;
    std::optional<Header>& elsewhere = waiting_.heard[static_cast<std::size_t>(peer)].elsewhere;
    elsewhere = theirs.isOver() ? std::nullopt : std::optional(theirs);
    return true;
  }
  const Header mine = headerOf(call_, 0);
  const Header call = theirs.callOfNote(mine.sequence);
  const bool is_later = call.sequence > mine.sequence && receivesFrom(peer);
  if (is_later || (call.sequence == mine.sequence && !call.isOfCall(mine)))
    refuse(peer, mismatchOf(nameOf(peer), call, nameOf(work_.rank), mine));
  return true;
}

bool RankProgress::receivesFrom(int peer) const {
  return std::any_of(active_.begin(), active_.end(), [&](const Active& each) {
    return each.step->peer == peer && isReceive(each.step->kind) && !finished(each);
  });
}

void RankProgress::listenToAll() {
  if (abort_message_ && !refusal_) receiveAbortMessage(work_.endpoint->peer(abort_message_->peer));
  for (int peer = 0; peer < call_.members && !abort_message_ && !refusal_; ++peer) {
    if (peer == work_.rank) continue;
    transport::Connection& connection = work_.endpoint->peer(peer);
    if (hearAbortBeside(connection, peer) || receivesFrom(peer) || !connection.isUp()) continue;
    connection.fetch(transport::kHeadBytes);
    const std::optional<Begun> begun = beginningOf(connection);
    if (!begun) continue;
    // A message of a later round or of the next call is checked by the step that receives it. A message of
    // another call with this call's number is a mismatch.
    const Header& theirs = begun->header;
    const Header mine = headerOf(call_, theirs.message_bytes);
    const bool over = isAbortMessage(theirs);
    const bool is_note = !over && theirs.isNote();
    if (!over && !is_note && (theirs.sequence != mine.sequence || theirs.isOfCall(mine))) continue;
    if (!connection.isGenuine(begun->head))
      refuse(peer, nameOf(peer) + kNotGenuine);
    else if (is_note)
      hearNote(connection, peer, theirs);
    else if (over)
      beginAbortMessage(connection, peer, theirs);
    else
      refuse(peer, mismatchOf(nameOf(peer), theirs, nameOf(work_.rank), mine));
  }
}

void RankProgress::refuse(int peer, const std::string& why) {
  refusal_ = Failure{.status = pop::failedPrecondition(why), .peer_rank = peer};
}

std::string RankProgress::nameOf(int rank) const {
  return nameOfRank(waiting_.names, rank);
}

void RankProgress::hear(int peer) {
  if (waiting_.heard.empty()) return;
  Heard& heard = waiting_.heard[static_cast<std::size_t>(peer)];
  heard = {.calls = call_.sequence + 1, .key = call_.key.packed(), .count = call_.count};
}

// A range that is also being sent in this round may be overwritten only as far as it has been sent. Two ranks
// that exchange ranges cannot block each other this way: the one that has sent more can take everything the
// other has sent. A send of no elements has the place of what comes after it, and keeps nothing from it.
std::size_t RankProgress::mayBeWritten(const Active& active) const {
  std::size_t bytes = active.step->count * element_bytes_;
  for (const Active& each : active_) {
    if (each.step->kind == StepKind::kSend && each.step->from == active.step->to && !finished(each))
      bytes = std::min(bytes, each.bytes_moved);
  }
  return bytes;
}

// Reduces the whole elements that have arrived.
std::size_t RankProgress::receiveAndReduce(const Active& active, transport::Connection& connection) {
  const std::size_t left = mayBeWritten(active) - active.bytes_moved;
  if (left == 0) return 0;
  connection.fetch(left);
  const std::span<const std::byte> ready = connection.peek();
  const std::size_t part = std::min(ready.size(), left) / element_bytes_ * element_bytes_;
  if (part == 0) return 0;
  reduce(*active.step, active.bytes_moved, ready.first(part));
  connection.consume(part);
  return part;
}

// Partial results come first; the operators are commutative.
void RankProgress::reduce(const plan::Step& step, std::size_t done_bytes,
                          std::span<const std::byte> incoming) {
  const auto& [own_is_partial, incoming_is_partial, last] = step.operands;
  const void* own = source(step.from) + done_bytes;
  const void* sources[] = {incoming.data(), own};
  if (own_is_partial && !incoming_is_partial) std::swap(sources[0], sources[1]);
  void* const to = target(step.to) + done_bytes;
  const std::size_t partials = (own_is_partial ? 1U : 0U) + (incoming_is_partial ? 1U : 0U);
  reduce::fold({.op = call_.folds,
                .type = call_.type,
                .partials = partials,
                .divisor = last && call_.folds == Operator::kMean ? call_.members : 1.0},
               {&to, 1}, sources, incoming.size() / element_bytes_);
}

std::vector<int> RankProgress::undelivered() const {
  std::vector<int> ranks;
  work_.endpoint->appendUndelivered(ranks);
  return ranks;
}

// A peer whose sum waits for another one's may have done its part, and be elsewhere or at its end.
void RankProgress::appendAwaited(std::vector<int>& ranks) const {
  if (allStepsDone() && has_sent_) work_.endpoint->appendUndelivered(ranks);
  for (const Active& active : active_) {
    if (mayMove(active)) ranks.push_back(active.step->peer);
  }
}

void RankProgress::appendMissedIfEnded(std::vector<int>& ranks) const {
  for (const Active& active : active_) {
    if (finished(active)) continue;
    const int peer = active.step->peer;
    if (!isReceive(active.step->kind) || !work_.endpoint->peer(peer).mayStillDeliver()) ranks.push_back(peer);
  }
}

void RankProgress::appendLost(std::vector<LostConnection>& lost) const {
  for (const Active& active : active_) {
    if (finished(active)) continue;
    pop::Status failure = work_.endpoint->peer(active.step->peer).failure();
    if (!failure.ok()) lost.push_back({active.step->peer, std::move(failure)});
  }
}

const std::byte* RankProgress::source(const plan::Slice& slice) const {
  const std::size_t offset = slice.offset * element_bytes_;
  switch (slice.buffer) {
    case plan::Buffer::kInput:
      return static_cast<const std::byte*>(work_.input) + offset;
    case plan::Buffer::kOutput:
      return static_cast<const std::byte*>(work_.output) + offset;
    case plan::Buffer::kScratch:
      return scratch_.get() + offset;
  }
  POP_CHECK(false);
}

std::byte* RankProgress::target(const plan::Slice& slice) {
  POP_CHECK(slice.buffer != plan::Buffer::kInput);
  const std::size_t offset = slice.offset * element_bytes_;
  return slice.buffer == plan::Buffer::kOutput ? static_cast<std::byte*>(work_.output) + offset
                                               : scratch_.get() + offset;
}

}  // namespace popdist::exec
