// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/collective_call.h"

namespace popdist::group {

std::uint64_t agreedCount(const CollectiveCall& call) {
  if (call.operation == plan::Operation::kSendRecv) return 0;  // each rank has its own
  if (!call.ragged) return call.count;
  return call.operation == plan::Operation::kAllToAll
             ? 0
             : digestOf(call.counts);  // in an all-to-all each rank has its own
}

CallKey keyOf(const CollectiveCall& call) {
  return {call.operation, call.type, call.op, call.ragged, call.root};
}

CallDescription descriptionOf(const CollectiveCall& call) {
  const CollectiveCall& whole = call.whole();
  return {nameOf(whole.operation), describeCall(keyOf(whole).packed(), agreedCount(whole), whole.tensor)};
}

std::string describeCountMismatch(const std::string& from, std::uint64_t sent, const std::string& to,
                                  std::uint64_t expected) {
  return from + " does not match: it sends " + std::to_string(sent) + " elements to " + to +
         ", which expects " + std::to_string(expected);
}

}  // namespace popdist::group
