// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/exec/call_words.h"

namespace popdist::exec {

std::string describeCall(std::uint64_t key, std::uint64_t count, std::string_view tensor) {
  const CallKey call = CallKey::unpacked(key);
  std::string text = nameOf(call.operation);
  if (call.operation == plan::Operation::kBarrier) return text;
  text += " (";
  if (plan::reduces(call.operation)) text += std::string(nameOf(call.op)) + " of ";
  if (call.ragged)
    text += "per-rank counts of ";
  else if (call.operation != plan::Operation::kSendRecv)
    text += std::to_string(count) + ' ';
  text += nameOf(call.type);
  if (!tensor.empty()) text += " '" + std::string(tensor) + '\'';
  if (plan::hasRoot(call.operation)) text += ", root " + std::to_string(call.root);
  return text + ')';
}

std::string nameOfRank(const RankNames& names, int rank) {
  return names ? names(rank) : "rank " + std::to_string(rank);
}

std::string describeMismatch(const std::string& rank, const std::string& theirs, const std::string& own_rank,
                             const std::string& ours) {
  return rank + " does not match: it calls " + theirs + ", " + own_rank + " calls " + ours;
}

std::string describeDeadline(const std::string& whom, const std::string& where) {
  return "the deadline has passed, waiting for " + whom + ": " + where +
         " (to wait longer: Context::setTimeout or CallOptions::timeout)";
}

}  // namespace popdist::exec
