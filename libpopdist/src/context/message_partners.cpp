// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/context/message_partners.h"

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "libpopdist/src/plan/recursive_doubling_all_reduce.h"

namespace popdist::context {
namespace {

// What a rank asks for, as it travels.
struct Asked {
  std::uint64_t key = 0;  ///< CallKey::packed
  plan::Partners partners;
};
using Words = std::array<std::uint64_t, sizeof(Asked) / sizeof(std::uint64_t)>;

// All-gather in the fewest rounds: each rank has its own words and zeros for the others'.
std::vector<Words> wordsOfAll(Group& group, const CollectiveCall& call, const Asked& own) {
  const int rank = group.localRanks().front();
  std::vector<Words> all(static_cast<std::size_t>(group.size()), Words{});
  all[static_cast<std::size_t>(rank)] = std::bit_cast<Words>(own);
  const plan::Plan plan =
      plan::planRecursiveDoublingAllReduce(rank, group.size(), all.size() * Words().size());
  const Group::Part part{&plan, all.data(), all.data()};
  group.run({.key = keyOf(call), .tensor = call.tensor, .type = Type::kUint64, .folds = Operator::kBitOr},
            {&part, 1}, call.timeout);
  return all;
}

}  // namespace

void comparePartners(Group& group, const CollectiveCall& call) {
  const Asked own{keyOf(call).packed(), call.partners};
  std::vector<plan::Partners> partners;
  for (const Words& words : wordsOfAll(group, call, own)) {
    const auto theirs = std::bit_cast<Asked>(words);
    const int rank = static_cast<int>(partners.size());
    if (theirs.key != own.key) {
      const std::string mismatch = exec::describeMismatch(
          group.nameOfRank(rank), describeCall(theirs.key, 0, ""), describeCall(own.key, 0, call.tensor));
      group.failCollective(descriptionOf(call),
                           {.status = pop::failedPrecondition(mismatch), .peer_rank = rank});
    }
    partners.push_back(theirs.partners);
  }
  if (const auto found = plan::findContradiction(partners)) {
    group.failCollective(descriptionOf(call), {.status = pop::failedPrecondition(found->text),
                                               .peer_rank = found->seenBy(group.localRanks().front())});
  }
}

}  // namespace popdist::context
