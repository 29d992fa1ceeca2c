// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/collective_call.h"

namespace popdist::context {
namespace {

bool hasOperator(plan::Operation operation) {
  return operation == plan::Operation::kAllReduce || operation == plan::Operation::kReduceScatter ||
         operation == plan::Operation::kReduce;
}

bool hasRoot(plan::Operation operation) {
  return operation == plan::Operation::kBroadcast || operation == plan::Operation::kReduce ||
         operation == plan::Operation::kGather || operation == plan::Operation::kScatter;
}

}  // namespace

std::string describeCall(std::uint64_t key, std::uint64_t count, std::string_view tensor) {
  const CallKey call = CallKey::unpacked(key);
  std::string text = nameOf(call.operation);
  if (call.operation == plan::Operation::kBarrier) return text;
  text += " (";
  if (hasOperator(call.operation)) text += std::string(nameOf(call.op)) + " of ";
  text += (call.ragged ? "counts of each rank" : std::to_string(count)) + ' ' + nameOf(call.type);
  if (!tensor.empty()) text += " '" + std::string(tensor) + '\'';
  if (hasRoot(call.operation)) text += ", root " + std::to_string(call.root);
  return text + ')';
}

std::string countsContradict(int from, std::uint64_t sent, std::uint64_t expected) {
  return "rank " + std::to_string(from) + " does not match: it sends " + std::to_string(sent) +
         " elements to this rank, which expects " + std::to_string(expected);
}

}  // namespace popdist::context
