// SPDX-License-Identifier: Apache-2.0
// What a caller of a communicator can be told at once: arguments that are wrong whatever the others do.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "libpopdist/src/context/context_impl.h"

namespace popdist {

using context::CollectiveCall;
using plan::Operation;

void Communicator::Impl::check(const CollectiveCall& call) const {
  const std::size_t element = sizeOf(call.type);
  if (element == 0) refuse(call, "no such element type");
  if (plan::reduces(call.operation) && !supports(call.op, call.type))
    refuse(call, std::string("there is no ") + nameOf(call.op) + " of " + nameOf(call.type));
  if (call.root < 0 || call.root >= size())
    refuse(call, "root " + std::to_string(call.root) + " is not a rank; there are " + std::to_string(size()));
  if (call.count > context::mostElements(call.type) / static_cast<std::size_t>(size())) {
    refuse(call, std::to_string(call.count) + " elements for each of " + std::to_string(size()) +
                     " ranks exceed any memory");
  }
  if (call.operation == Operation::kSendRecv) return checkPartners(call);
  if (call.ragged) checkCounts(call, call.counts);
  if (call.ragged && call.operation == Operation::kAllToAll) checkCounts(call, call.recv_counts);
  checkBuffers(call);
}

void Communicator::Impl::checkBuffers(const CollectiveCall& call) const {
  if (call.ragged) return checkRaggedBuffers(call);
  if (call.count == 0 || call.operation == Operation::kBarrier) return;
  const bool is_root = rank() == call.root;
  const bool gives = call.operation != Operation::kScatter || is_root;
  const bool takes =
      (call.operation != Operation::kReduce && call.operation != Operation::kGather) || is_root;
  if ((gives && call.input == nullptr) || (takes && call.output == nullptr))
    refuse(call, "a buffer is a null pointer");
}

void Communicator::Impl::checkRaggedBuffers(const CollectiveCall& call) const {
  const auto any = [](std::span<const std::size_t> counts) {
    return std::any_of(counts.begin(), counts.end(), [](std::size_t count) { return count > 0; });
  };
  const bool gathers = call.operation == Operation::kAllGather;
  const bool gives = !gathers && any(call.counts);  // a gather may find its block in the output
  const bool takes = any(gathers ? call.counts : call.recv_counts);
  if ((gives && call.input == nullptr) || (takes && call.output == nullptr))
    refuse(call, "a buffer is a null pointer");
}

void Communicator::Impl::checkPartners(const CollectiveCall& call) const {
  const plan::Partners& partners = call.partners;
  for (const int rank : {partners.to, partners.from}) {
    if (rank < kNobody || rank >= size()) {
      refuse(call, std::to_string(rank) + " is neither a rank nor kNobody; there are " +
                       std::to_string(size()) + " ranks");
    }
  }
  if (std::max(partners.send_count, partners.recv_count) > context::mostElements(call.type))
    refuse(call, "the counts exceed any memory");
  const std::size_t sent_bytes = partners.send_count * sizeOf(call.type);
  const std::size_t received_bytes = partners.recv_count * sizeOf(call.type);
  if ((sent_bytes > 0 && call.input == nullptr) || (received_bytes > 0 && call.output == nullptr))
    refuse(call, "a buffer is a null pointer");
  const auto in = reinterpret_cast<std::uintptr_t>(call.input);
  const auto out = reinterpret_cast<std::uintptr_t>(call.output);
  if (sent_bytes > 0 && received_bytes > 0 && in < out + received_bytes && out < in + sent_bytes)
    refuse(call, "the buffers overlap");
}

void Communicator::Impl::checkCounts(const CollectiveCall& call, std::span<const std::size_t> counts) const {
  if (counts.size() != static_cast<std::size_t>(size())) {
    refuse(call,
           "there are " + std::to_string(counts.size()) + " counts for " + std::to_string(size()) + " ranks");
  }
  std::size_t room = context::mostElements(call.type);
  for (const std::size_t count : counts) {
    if (count > room) refuse(call, "the counts exceed any memory together");
    room -= count;
  }
}

std::chrono::milliseconds Communicator::Impl::checkedTimeout(const CollectiveCall& call,
                                                             std::chrono::milliseconds timeout) const {
  if (timeout.count() < 1) refuse(call, "the timeout must be at least a millisecond");
  return std::min(timeout, context::kLongestTimeout);
}

}  // namespace popdist
