// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/calls/messages/message_partners.h"

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "libpopdist/collectives/plan/recursive_doubling_all_reduce.h"

namespace popdist::calls {

using group::CollectiveCall;

namespace {

// A rank's request, in the form in which it is sent.
struct Asked {
  std::uint64_t key = 0;  ///< CallKey::packed
  plan::Partners partners;
};
using Words = std::array<std::uint64_t, sizeof(Asked) / sizeof(std::uint64_t)>;

// An all-gather in the fewest rounds: each rank contributes its own words, and zeros for the others'.
exec::Failure wordsOfAll(MessageRunner& runner, const CollectiveCall& call, const Asked& own,
                         std::vector<Words>& all) {
  const int rank = runner.members().localRanks().front();
  const int ranks = runner.members().size();
  all.assign(static_cast<std::size_t>(ranks), Words{});
  all[static_cast<std::size_t>(rank)] = std::bit_cast<Words>(own);
  const plan::Plan plan = plan::planRecursiveDoublingAllReduce(rank, ranks, all.size() * Words().size());
  const MessageRunner::Part part{&plan, all.data(), all.data()};
  runner.nextCall();
  return runner.run(
      {.key = keyOf(call), .tensor = call.tensor, .type = Type::kUint64, .folds = Operator::kBitOr},
      {&part, 1}, call.timeout);
}

}  // namespace

exec::Failure comparePartners(MessageRunner& runner, const CollectiveCall& call) {
  const Asked own{keyOf(call).packed(), call.partners};
  std::vector<Words> all;
  if (exec::Failure failure = wordsOfAll(runner, call, own, all); !failure.status.ok()) return failure;
  std::vector<plan::Partners> partners;
  for (const Words& words : all) {
    const auto theirs = std::bit_cast<Asked>(words);
    const int rank = static_cast<int>(partners.size());
    if (theirs.key != own.key) {
      return {.status = pop::failedPrecondition(exec::describeMismatch(
                  runner.members().nameOfRank(rank), exec::describeCall(theirs.key, 0, ""),
                  runner.members().nameOfRank(runner.members().localRanks().front()),
                  exec::describeCall(own.key, 0, call.tensor))),
              .peer_rank = rank};
    }
    partners.push_back(theirs.partners);
  }
  const auto found = plan::findContradiction(partners);
  if (!found) return {};
  return {.status = pop::failedPrecondition(found->text),
          .peer_rank = found->seenBy(runner.members().localRanks().front())};
}

}  // namespace popdist::calls
