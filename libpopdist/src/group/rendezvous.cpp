// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/group/rendezvous.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/text.h"
#include "common/contract/segment.h"
#include "libpopdist/src/group/collective_call.h"
#include "libpopdist/src/plan/stage_layout.h"
#include "libpopdist/src/shared/control_block.h"

namespace popdist::group {

using context::throwIfFailed;

namespace {

// What is offered begins with one of these, or is an address of ours.
constexpr char kNoAddress = '!';
constexpr char kBackend = ':';  // a host's address, a space, and what its plugin offers follow

std::string controlBlockKey(const std::string& prefix, int first_rank) {
  return prefix + "control block/" + std::to_string(first_rank);
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

void offer(context::ContextState& context, const std::string& prefix, int rank, const std::string& text) {
  throwIfFailed(context.link->put(prefix + std::to_string(rank), text, context.timeout()), kCreate);
}

// Another member's, as insteadOfAddress() has put it.
context::LinkError failureIn(const std::string& offered, int rank, int instance) {
  const std::size_t space = std::min(offered.find(' '), offered.size());
  pop::Result<std::int64_t> code = pop::parseInteger(offered.substr(1, space - 1));
  const bool known = code.ok() && *code > 0 && *code <= static_cast<std::int64_t>(pop::Code::kDataLoss);
  const std::string who = "rank " + std::to_string(rank) + " (instance " + std::to_string(instance) + ')';
  return {{known ? static_cast<pop::Code>(*code) : pop::Code::kUnknown,
           who + ": " + offered.substr(std::min(space + 1, offered.size()))},
          instance};
}

}  // namespace

std::string rendezvousPrefix(int number) {
  return "popdist/group/" + std::to_string(number) + '/';
}

std::string rendezvousTag(int number, const std::vector<int>& instance_of_rank) {
  return "communicator " + std::to_string(number) + " of " + std::to_string(instance_of_rank.size()) +
         " ranks (" + std::to_string(digestOf(instance_of_rank)) + ')';
}

void offerAddresses(context::ContextState& context, const std::string& prefix,
                    const std::vector<int>& local_ranks, const transport::Connections* mine,
                    const pop::Status& failure) {
  for (const int rank : local_ranks) {
    offer(context, prefix, rank, failure.ok() ? mine->address(rank) : insteadOfAddress(failure));
  }
}

std::vector<std::string> collectAddresses(context::ContextState& context, const std::string& prefix,
                                          const std::vector<int>& instance_of_rank) {
  std::vector<std::string> addresses;
  for (int rank = 0; std::cmp_less(rank, instance_of_rank.size()); ++rank) {
    std::optional<std::string> address;
    throwIfFailed(context.link->get(prefix + std::to_string(rank), context.timeout(), address), kCreate);
    if (!address) throwIfFailed({pop::internalError("nobody is rank " + std::to_string(rank))}, kCreate);
    if (address->front() == kNoAddress)
      throwIfFailed(failureIn(*address, rank, instance_of_rank[static_cast<std::size_t>(rank)]), kCreate);
    addresses.push_back(std::move(*address));
  }
  return addresses;
}

void offerToBackend(context::ContextState& context, const std::string& prefix, int rank,
                    const std::string& host, const pop::Result<std::string>& offered) {
  offer(context, prefix, rank,
        offered.ok() ? kBackend + host + ' ' + offered.value() : insteadOfAddress(offered.status()));
}

BackendOffers collectBackendOffers(context::ContextState& context, const std::string& prefix,
                                   const std::vector<int>& instance_of_rank) {
  BackendOffers offers;
  for (const std::string& text : collectAddresses(context, prefix, instance_of_rank)) {
    const std::size_t space = std::min(text.find(' '), text.size() - 1);
    offers.host_of_rank.push_back(text.substr(1, space - 1));
    offers.offer_of_rank.push_back(text.substr(space + 1));
  }
  return offers;
}

void offerControlBlock(context::ContextState& context, const std::string& prefix, int first_rank,
                       int members) {
  const std::size_t bytes = shared::ControlBlock::bytesFor(members, plan::stageLayoutFor(members).bytes());
  const std::size_t offset = pop::contract::takePiece(context.link->segment().header(), bytes);
  throwIfFailed(context.link->put(controlBlockKey(prefix, first_rank),
                                  std::to_string(members) + ' ' + std::to_string(offset), context.timeout()),
                kCreate);
}

std::vector<HostControlBlock> collectControlBlocks(context::ContextState& context, const std::string& prefix,
                                                   int ranks) {
  std::vector<HostControlBlock> control_blocks;
  for (int rank = 0; rank < ranks; rank += control_blocks.back().members) {
    std::optional<std::string> text;
    throwIfFailed(context.link->get(controlBlockKey(prefix, rank), context.timeout(), text), kCreate);
    pop::Result<HostControlBlock> control_block = parseControlBlock(text.value_or(""));
    throwIfFailed({control_block.status()}, kCreate);
    if (control_block->members > ranks - rank)
      throwIfFailed({pop::internalError("too many members on a host")}, kCreate);
    control_blocks.push_back(*control_block);
  }
  return control_blocks;
}

}  // namespace popdist::group
