// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/mismatches.h"

#include <regex.h>

#include <cstdlib>
#include <numeric>

#include "tests/contract/members.h"

namespace popdist::contract {
namespace {

// Not by std::regex, of which GCC 12 warns where sanitizers are on.
bool says(const Reported& report, const char* words) {
  regex_t expression;
  if (::regcomp(&expression, words, REG_EXTENDED | REG_NOSUB) != 0) std::abort();
  const bool found = ::regexec(&expression, report.what.c_str(), 0, nullptr, 0) == 0;
  ::regfree(&expression);
  return found;
}

// A rank that is told in its next call reads the number of both calls.
bool namesBoth(const Reported& report, const Mismatch& mismatch, Compared compared) {
  const bool odd = says(report, mismatch.odd_words), other = says(report, mismatch.other_words);
  const bool in_next_call =
      compared == Compared::kFrames && says(report, "as call [0-9]+, rank [0-9]+ .* as call [0-9]+");
  return (odd && other) || (in_next_call && (odd || other));
}

bool isMismatch(const Reported& report) {
  return report.code == static_cast<int>(ErrorCode::kFailedPrecondition);
}

// The error of the first call that fails, if any.
Reported firstErrorOf(Context& context, Communicator& members, const Call& call, Compared compared) {
  const Reported first = reportOf([&] { call(context, members); });
  return first.code != 0 || compared == Compared::kNotes ? first : reportOf([&] { members.synchronize(); });
}

// A gather with a count for each rank, the last of them as given.
Call gatherWith(std::size_t last) {
  return [=](Context& context, Communicator& members) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(members.size()), 2);
    counts.back() = last;
    gatherOf(counts)(context, members);
  };
}

// Each rank sends five to each, and expects `expected` from rank 0.
Call exchangeWith(std::size_t expected) {
  return [=](Context& context, Communicator& members) {
    const std::vector<std::size_t> sent(static_cast<std::size_t>(members.size()), 5);
    std::vector<std::size_t> received = sent;
    received.front() = expected;
    exchangeOf(sent, received)(context, members);
  };
}

bool works(Context& context) {
  const auto members = context.createCommunicator(everybody(context));
  std::vector<int> ones(10, 1);
  members->allReduce(std::span(ones));
  return std::accumulate(ones.begin(), ones.end(), 0) == 10 * members->size();
}

}  // namespace

const std::vector<Mismatch>& mismatches() {
  static const std::vector<Mismatch> all{
      {"count", sumOf(3), sumOf(4), "3 (x )?int32", "4 (x )?int32"},
      {"count of more", sumOf(3), sumOf(40'000), "3 (x )?int32", "40000 (x )?int32"},
      {"large count", sumOf(1'000'000), sumOf(1'000'001), "1000000 (x )?int32", "1000001 (x )?int32"},
      {"type", sumOf(3, Operator::kSum, Type::kInt64), sumOf(3), "3 (x )?int64", "3 (x )?int32"},
      {"operator", sumOf(3000, Operator::kMax), sumOf(3000), "\\bmax\\b", "\\bsum\\b"},
      {"operation", broadcastOf(3, 0), sumOf(3), "broadcast \\(3 float, root 0\\)",
       "allReduce \\(sum of 3 int32\\)"},
      {"root", broadcastOf(50'000, 1), broadcastOf(50'000, 0), "(root|rank) 1", "(root|rank) 0"},
      {"order", inTurn(sumOf(3), broadcastOf(5, 0)), inTurn(broadcastOf(5, 0), sumOf(3)),
       "allReduce \\(sum of 3", "broadcast \\(5 float"},
      {"memory and count", sumOf(70'000), sharedSumOf(70'001), "70000 (x )?int32", "70001 (x )?float"},
      {"count in shared memory", sharedSumOf(70'000), sharedSumOf(70'001), "70000 (x )?float",
       "70001 (x )?float"},
      {"counts of each", gatherWith(3), gatherWith(4), "float|12", "float|16"},
      {"a barrier", [](Context&, Communicator& members) { members.barrier(); }, sumOf(100'000), "barrier",
       "sum of 100000"},
      {"counts that contradict", exchangeWith(7), exchangeWith(5), "expects (7|28)\\b",
       "sends (5 elements|20 bytes)"},
      {"partners that contradict", transferOf(1, kNobody, 1, 2), transferOf(1, 1, 1, kNobody),
       "rank 1, which expects", "rank 0 sends"},
  };
  return all;
}

std::string runMismatch(Context& context, const Mismatch& mismatch, Compared compared) {
  const auto members = context.createCommunicator(everybody(context));
  const Call& own = members->rank() == 1 ? mismatch.odd : mismatch.other;
  const Reported first = firstErrorOf(context, *members, own, compared);
  const Reported later = reportOf([&] { members->synchronize(); });
  const Reported latest = reportOf([&] { sumOf(3)(context, *members); });
  context.fence();  // no rank leaves before all have been told
  // Recovery is tried after any error: the others make the new communicator with this rank.
  const bool recovers = works(context);
  const std::string who = std::string(mismatch.what) + ", rank " + std::to_string(members->rank()) + ": ";
  if (!isMismatch(first) || !namesBoth(first, mismatch, compared))
    return who + "told \"" + first.what + "\"\n";
  for (const Reported& report : {later, latest}) {
    if (!isMismatch(report) || !says(report, "an earlier call on this communicator failed"))
      return who + "told later \"" + report.what + "\"\n";
  }
  return recovers ? "" : who + "a new communicator does not work\n";
}

}  // namespace popdist::contract
