// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/api/call_checks.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "popdist/communicator.hpp"

namespace popdist::api {

using group::CollectiveCall;
using plan::Operation;

namespace {

constexpr const char* kNullBuffer = "a buffer is a null pointer";

bool any(std::span<const std::size_t> counts) {
  return std::any_of(counts.begin(), counts.end(), [](std::size_t count) { return count > 0; });
}

std::string wrongBuffers(const CollectiveCall& call, bool is_root) {
  if (call.count == 0 || call.operation == Operation::kBarrier) return "";
  const bool gives = call.operation != Operation::kScatter || is_root;
  const bool takes =
      (call.operation != Operation::kReduce && call.operation != Operation::kGather) || is_root;
  return (gives && call.input == nullptr) || (takes && call.output == nullptr) ? kNullBuffer : "";
}

std::string wrongRaggedBuffers(const CollectiveCall& call) {
  const bool gathers = call.operation == Operation::kAllGather;
  const bool gives = !gathers && any(call.counts);  // a gather may find its block in the output
  const bool takes = any(gathers ? call.counts : call.recv_counts);
  return (gives && call.input == nullptr) || (takes && call.output == nullptr) ? kNullBuffer : "";
}

std::string wrongPartners(const CollectiveCall& call, int size) {
  const plan::Partners& partners = call.partners;
  for (const int rank : {partners.to, partners.from}) {
    if (rank < kNobody || rank >= size) {
      return std::to_string(rank) + " is neither a rank nor kNobody: the communicator has " +
             std::to_string(size) + " ranks";
    }
  }
  if (std::max(partners.send_count, partners.recv_count) > group::maxElements(call.type))
    return "the counts exceed the address space";
  const std::size_t sent_bytes = partners.send_count * sizeOf(call.type);
  const std::size_t received_bytes = partners.recv_count * sizeOf(call.type);
  if ((sent_bytes > 0 && call.input == nullptr) || (received_bytes > 0 && call.output == nullptr))
    return kNullBuffer;
  const auto in = reinterpret_cast<std::uintptr_t>(call.input);
  const auto out = reinterpret_cast<std::uintptr_t>(call.output);
  const bool overlap =
      sent_bytes > 0 && received_bytes > 0 && in < out + received_bytes && out < in + sent_bytes;
  return overlap ? "the buffers overlap" : "";
}

std::string wrongCounts(Type type, std::span<const std::size_t> counts, int size) {
  if (counts.size() != static_cast<std::size_t>(size))
    return "there are " + std::to_string(counts.size()) + " counts for " + std::to_string(size) + " ranks";
  std::size_t room = group::maxElements(type);
  for (const std::size_t count : counts) {
    if (count > room) return "the sum of the counts exceeds the address space";
    room -= count;
  }
  return "";
}

std::string wrongRagged(const CollectiveCall& call, int size) {
  if (std::string why = wrongCounts(call.type, call.counts, size); !why.empty()) return why;
  if (call.operation == Operation::kAllToAll) {
    if (std::string why = wrongCounts(call.type, call.recv_counts, size); !why.empty()) return why;
  }
  return wrongRaggedBuffers(call);
}

}  // namespace

std::string whatIsWrongWith(const CollectiveCall& call, int rank, int size) {
  if (sizeOf(call.type) == 0) return "unknown element type";
  if (plan::reduces(call.operation) && !supports(call.op, call.type))
    return std::string(nameOf(call.op)) + " of " + nameOf(call.type) + " is not supported";
  if (call.root < 0 || call.root >= size)
    return "root " + std::to_string(call.root) + " is not a rank: the communicator has " +
           std::to_string(size) + " ranks";
  if (call.count > group::maxElements(call.type) / static_cast<std::size_t>(size)) {
    return std::to_string(call.count) + " elements for each of " + std::to_string(size) +
           " ranks exceed the address space";
  }
  if (call.operation == Operation::kSendRecv) return wrongPartners(call, size);
  return call.ragged ? wrongRagged(call, size) : wrongBuffers(call, rank == call.root);
}

}  // namespace popdist::api
