// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/collective_call.h"

#include "libpopdist/src/context/digest.h"

namespace popdist::context {
std::uint64_t agreedCount(const CollectiveCall& call) {
  if (call.operation == plan::Operation::kSendRecv) return 0;  // each has its own
  if (!call.ragged) return call.count;
  return call.operation == plan::Operation::kAllToAll ? 0 : digestOf(call.counts);  // there, each has its own
}

std::string describeCall(std::uint64_t key, std::uint64_t count, std::string_view tensor) {
  const CallKey call = CallKey::unpacked(key);
  std::string text = nameOf(call.operation);
  if (call.operation == plan::Operation::kBarrier) return text;
  text += " (";
  if (plan::reduces(call.operation)) text += std::string(nameOf(call.op)) + " of ";
  if (call.ragged)
    text += "counts of each rank ";
  else if (call.operation != plan::Operation::kSendRecv)
    text += std::to_string(count) + ' ';
  text += nameOf(call.type);
  if (!tensor.empty()) text += " '" + std::string(tensor) + '\'';
  if (plan::hasRoot(call.operation)) text += ", root " + std::to_string(call.root);
  return text + ')';
}

std::string countsContradict(int from, std::uint64_t sent, std::uint64_t expected) {
  return "rank " + std::to_string(from) + " does not match: it sends " + std::to_string(sent) +
         " elements to this rank, which expects " + std::to_string(expected);
}

}  // namespace popdist::context
