// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/rendezvous.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "common/contract/segment.h"
#include "libpopdist/collectives/group/door.h"
#include "libpopdist/collectives/group/fence.h"
#include "libpopdist/collectives/plan/stage_layout.h"
#include "libpopdist/collectives/shared/control_block.h"

namespace popdist::group {

using context::LinkError;
using context::throwIfFailed;

namespace {

// An offer begins with one of these; otherwise it is an address of the native transports.
constexpr char kNoAddress = '!';      // followed by a code, a space and the reason
constexpr char kBackend = ':';        // followed by the backend's name, kAfterBackend and its address
constexpr char kAfterBackend = '\0';  // unlike a space, in no path

constexpr int kLastRound = 2;  // of meetings that make a group

std::string controlBlockOf(int first_rank) {
  return "control block/" + std::to_string(first_rank);
}

// "<members> <offset>"; offset 0: the segment is full.
pop::Result<HostControlBlock> parseControlBlock(const std::string& text) {
  const std::vector<std::string> words = pop::split(text, ' ');
  if (words.size() != 2) return pop::internalError("unreadable control block " + pop::inQuotes(text));
  POP_ASSIGN_OR_RETURN(const std::int64_t members, pop::parseInteger(words[0]));
  POP_ASSIGN_OR_RETURN(const std::int64_t offset, pop::parseInteger(words[1]));
  if (members < 1 || members > INT32_MAX)
    return pop::internalError("unreadable control block " + pop::inQuotes(text));
  if (offset <= 0) {
    return pop::Status(pop::Code::kResourceExhausted,
                       "a host's shared-memory segment is full: too many communicators, Pods or ranks");
  }
  return HostControlBlock{static_cast<int>(members), static_cast<std::size_t>(offset)};
}

std::string insteadOfAddress(const pop::Status& failure) {
  return kNoAddress + std::to_string(static_cast<int>(failure.code())) + ' ' + failure.message();
}

// Removes the text before the next `end`, and the `end`, and returns the text.
std::string textUpTo(char end, std::string& text) {
  const std::size_t at = std::min(text.find(end), text.size());
  std::string first = text.substr(0, at);
  text.erase(0, at + 1);
  return first;
}

// The failure of another member, as insteadOfAddress() encoded it.
LinkError failureIn(std::string offered, int rank, int instance) {
  const pop::Result<std::int64_t> code = pop::parseInteger(textUpTo(' ', offered).substr(1));
  const bool known =
      code.ok() && code.value() > 0 && code.value() <= static_cast<std::int64_t>(pop::Code::kDataLoss);
  const std::string who = "rank " + std::to_string(rank) + " (instance " + std::to_string(instance) + ')';
  return {{known ? static_cast<pop::Code>(code.value()) : pop::Code::kUnknown, who + ": " + offered},
          instance};
}

}  // namespace

// ---- offers

// Keys are used again by the group after the next: the maker of that group has seen all instances enter the
// next one's fence, so all have read this group's offers. Values that a group finds of an older one begin
// with another number.
std::string Rendezvous::keyOf(const std::string& what) const {
  return std::string(context::kReservedKeys) + "group/" + std::to_string(number_ % 2) + '/' + what;
}

void Rendezvous::offer(const std::string& what, const std::string& text) {
  if (!name_.empty()) {
    own_.insert_or_assign(what, text);
    return;
  }
  const std::string value = std::to_string(number_) + ' ' + text;
  throwIfFailed(context_.link->put(keyOf(what), value, context_.timeout()), kCreate);
}

void Rendezvous::offerAddresses(const std::string& backend, const transport::Connections* mine,
                                const pop::Status& failure) {
  backend_ = backend;
  const std::string before = backend == context::kNativeBackend ? "" : kBackend + backend + kAfterBackend;
  for (const int rank : members_.localRanks())
    offer(std::to_string(rank), failure.ok() ? before + mine->address(rank) : insteadOfAddress(failure));
}

void Rendezvous::offerControlBlock(int first_rank, int members) {
  const std::size_t bytes = shared::ControlBlock::bytesFor(members, plan::stageLayoutFor(members).bytes());
  const std::size_t offset = context_.link->segment().takeFor(members, bytes);
  offer(controlBlockOf(first_rank), std::to_string(members) + ' ' + std::to_string(offset));
}

// ---- meeting

void Rendezvous::meet(const std::string& settings) {
  if (name_.empty())
    meetAll(settings);
  else
    meetMembers(kLastRound, settings);
  if (!members_.localRanks().empty()) compareBackends();
}

void Rendezvous::agreeOnNumber() {
  if (!name_.empty()) meetMembers(kLastRound - 1, "");
}

void Rendezvous::meetMembers(int round, const std::string& settings) {
  const Proposal own{.name = name_,
                     .round = round,
                     .instance_of_rank = members_.instances(),
                     .settings = settings,
                     .offers = own_};
  Door::Agreed agreed;
  throwIfFailed(context_.door->meet(own, members_, agreed), kCreate);
  if (number_ < 0) number_ = agreed.number;
  offers_ = std::move(agreed.offers);
}

void Rendezvous::meetAll(const std::string& settings) {
  const std::string tag =
      "communicator " + std::to_string(number_) + " of " + setOf(members_.instances()) + settings;
  LinkError error = enterFence(context_, tag);
  if (error.status.code() == pop::Code::kDeadlineExceeded) {
    error.status = {
        pop::Code::kDeadlineExceeded,
        error.status.message() +
            ": every instance of the job must create the communicator, including those that are not members"};
  }
  throwIfFailed(error, kCreate);
  if (members_.localRanks().empty()) return;
  context::Link::Values values;
  throwIfFailed(context_.link->getAll(keyOf(""), context_.timeout(), values), kCreate);
  for (auto& [key, value] : values)
    if (textUpTo(' ', value) == std::to_string(number_))
      offers_.insert_or_assign(key.substr(keyOf("").size()), std::move(value));
}

std::string Rendezvous::offeredAs(const std::string& what) const {
  const auto found = offers_.find(what);
  return found == offers_.end() ? "" : found->second;
}

// A member without an address counts as using the same backend.
std::string Rendezvous::backendOf(int rank) const {
  std::string offered = offeredAs(std::to_string(rank));
  if (offered.starts_with(kNoAddress)) return backend_;
  return offered.starts_with(kBackend) ? textUpTo(kAfterBackend, offered).substr(1) : context::kNativeBackend;
}

void Rendezvous::compareBackends() const {
  for (int rank = 0; rank < members_.size(); ++rank) {
    const std::string theirs = backendOf(rank);
    if (theirs == backend_) continue;
    std::pair<int, std::string> one{members_.instanceOf(rank), theirs};
    std::pair<int, std::string> other{context_.instance_index, backend_};
    if (one.first > other.first) std::swap(one, other);
    throwIfFailed(
        {pop::failedPrecondition("instance " + std::to_string(one.first) + " uses backend " + one.second +
                                 ", instance " + std::to_string(other.first) + " uses " + other.second +
                                 ": set the same POPDIST_BACKEND everywhere (poprun -x POPDIST_BACKEND)"),
         members_.instanceOf(rank)},
        kCreate);
  }
}

// ---- offers of all instances

std::vector<std::string> Rendezvous::addresses() const {
  std::vector<std::string> addresses;
  for (int rank = 0; rank < members_.size(); ++rank) {
    addresses.push_back(offeredAs(std::to_string(rank)));
    if (addresses.back().empty())
      throwIfFailed({pop::internalError("no instance offered an address for rank " + std::to_string(rank))},
                    kCreate);
    if (addresses.back().starts_with(kNoAddress))
      throwIfFailed(failureIn(addresses.back(), rank, members_.instanceOf(rank)), kCreate);
    if (addresses.back().starts_with(kBackend)) textUpTo(kAfterBackend, addresses.back());
  }
  return addresses;
}

std::vector<HostControlBlock> Rendezvous::controlBlocks() const {
  std::vector<HostControlBlock> control_blocks;
  for (int rank = 0; rank < members_.size(); rank += control_blocks.back().members) {
    pop::Result<HostControlBlock> control_block = parseControlBlock(offeredAs(controlBlockOf(rank)));
    throwIfFailed({control_block.status()}, kCreate);
    if (control_block->members > members_.size() - rank)
      throwIfFailed({pop::internalError("too many members on a host")}, kCreate);
    control_blocks.push_back(*control_block);
  }
  return control_blocks;
}

}  // namespace popdist::group
