// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/group_rendezvous.h"

#include <optional>
#include <utility>

#include "common/base/text.h"
#include "common/contract/segment.h"
#include "libpopdist/src/context/digest.h"
#include "libpopdist/src/plan/shared_select.h"
#include "libpopdist/src/shared/board.h"

namespace popdist::context {
namespace {

constexpr const char* kBoardKey = "board";  // its offset; 0: the segment is full

}  // namespace

std::string rendezvousPrefix(int number) {
  return "popdist/group/" + std::to_string(number) + '/';
}

std::string rendezvousTag(int number, const std::vector<int>& instance_of_rank) {
  return "communicator " + std::to_string(number) + " of " + std::to_string(instance_of_rank.size()) +
         " ranks (" + std::to_string(digestOf(instance_of_rank)) + ')';
}

void offerAddresses(Link& link, const std::string& prefix, const std::vector<int>& local_ranks,
                    const transport::Connections* mine, const pop::Status& failure) {
  for (const int rank : local_ranks) {
    const std::string address = failure.ok() ? mine->address(rank) : kNoAddress + failure.message();
    throwIfFailed(link.put(prefix + std::to_string(rank), address), kCreate);
  }
}

std::vector<std::string> collectAddresses(Surroundings& surroundings, const std::string& prefix, int ranks) {
  std::vector<std::string> addresses;
  for (int rank = 0; rank < ranks; ++rank) {
    std::optional<std::string> address;
    throwIfFailed(surroundings.link->get(prefix + std::to_string(rank), surroundings.timeout(), address),
                  kCreate);
    if (!address) throwIfFailed({pop::internalError("nobody is rank " + std::to_string(rank))}, kCreate);
    if (address->front() == kNoAddress) {
      throwIfFailed(
          {{pop::Code::kResourceExhausted, "rank " + std::to_string(rank) + ": " + address->substr(1)}},
          kCreate);
    }
    addresses.push_back(std::move(*address));
  }
  return addresses;
}

void offerBoard(Link& link, const std::string& prefix, int ranks) {
  const std::size_t bytes = shared::Board::bytesFor(ranks, plan::stageLayoutFor(ranks).bytes());
  const std::size_t offset = pop::contract::takePiece(link.segment().header(), bytes);
  throwIfFailed(link.put(prefix + kBoardKey, std::to_string(offset)), kCreate);
}

std::size_t collectBoard(Surroundings& surroundings, const std::string& prefix) {
  std::optional<std::string> text;
  throwIfFailed(surroundings.link->get(prefix + kBoardKey, surroundings.timeout(), text), kCreate);
  const pop::Result<std::int64_t> offset = pop::parseInteger(text.value_or(""));
  if (!offset.ok() || offset.value() <= 0) {
    throwIfFailed({{pop::Code::kResourceExhausted,
                    "this host's shared-memory segment is full: too many communicators or ranks"}},
                  kCreate);
  }
  return static_cast<std::size_t>(offset.value());
}

}  // namespace popdist::context
