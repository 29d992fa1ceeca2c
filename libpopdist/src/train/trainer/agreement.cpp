// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/train/trainer/agreement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/text.h"
#include "common/contract/fence_slots.h"
#include "libpopdist/src/tensor/error_edge.h"
#include "libpopdist/src/train/checkpoint/exchange.h"
#include "popdist/communicator.hpp"

namespace popdist::train {
namespace {

constexpr std::size_t kExcerptBytes = 160;
constexpr std::size_t kBeforeDifferenceBytes = 60;

/// Whether each number is the same on all instances: its least is its largest.
std::vector<bool> areSame(Context& context, std::span<const std::uint64_t> numbers) {
  std::vector<std::uint64_t> least(numbers.begin(), numbers.end());
  for (const std::uint64_t number : numbers) least.push_back(~number);
  context.world().allReduce(std::span(least), Operator::kMin);
  std::vector<bool> same;
  for (std::size_t i = 0; i < numbers.size(); ++i) same.push_back(least[i] == ~least[numbers.size() + i]);
  return same;
}

/// What a long text has around `at`.
std::string excerpt(const std::string& text, std::size_t at) {
  const std::size_t begin = text.size() <= kExcerptBytes ? 0 : at - std::min(at, kBeforeDifferenceBytes);
  const std::string part = text.substr(begin, kExcerptBytes);
  return pop::inQuotes((begin > 0 ? "…" : "") + part + (begin + part.size() < text.size() ? "…" : ""));
}

pop::Status differs(const Fact& fact, const std::vector<std::string>& texts) {
  const std::string& first = texts.front();
  const auto other =
      std::find_if(texts.begin(), texts.end(), [&](const auto& each) { return each != first; });
  if (other == texts.end()) return pop::failedPrecondition(fact.name + " is not the same on all instances");
  const auto parted = std::mismatch(first.begin(), first.end(), other->begin(), other->end()).first;
  const auto at = static_cast<std::size_t>(parted - first.begin());
  return pop::failedPrecondition(fact.name + " is " + excerpt(first, at) + " on instance 0 and " +
                                 excerpt(*other, at) + " on instance " +
                                 std::to_string(other - texts.begin()) + ": " + fact.advice);
}

/// kFailedPrecondition: the first fact that differs.
pop::Status compare(Context& context, const Facts& facts) {
  if (context.numInstances() == 1) return {};
  std::vector<std::uint64_t> digests;
  std::string all;
  for (const Fact& fact : facts) {
    digests.push_back(pop::contract::tagDigest(fact.text));
    all += fact.text + '\0';
  }
  const std::uint64_t of_all = pop::contract::tagDigest(all);
  if (areSame(context, std::span(&of_all, 1)).front()) return {};
  const std::vector<bool> same = areSame(context, digests);
  const auto first = std::find(same.begin(), same.end(), false) - same.begin();
  const Fact& fact = facts[std::min(static_cast<std::size_t>(first), facts.size() - 1)];
  const auto texts = exchange(context.world(), fact.text, context.timeout());
  POP_RETURN_IF_ERROR(texts.status());
  return differs(fact, texts.value());
}

}  // namespace

void requireSame(Context& context, const Facts& facts, const char* function) {
  throwIfError(compare(context, facts), function);
}

void requireSound(Context& context, const pop::Status& mine, const char* function) {
  const pop::Status all =
      compare(context,
              {{.name = "what is wrong with the arguments", .text = mine.ok() ? "nothing" : mine.message()}});
  throwIfError(mine, function);
  throwIfError(all, function);
}

}  // namespace popdist::train
