// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/agreement/agreement.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/contract/fence_slots.h"
#include "common/contract/frame.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/internal/own_calls.h"
#include "libpopdist/train/agreement/exchange.h"
#include "popdist/communicator.hpp"

namespace popdist::train {
namespace {

using pop::contract::Frame;

constexpr std::size_t kExcerptBytes = 160;
constexpr std::size_t kBeforeDifferenceBytes = 60;

/// An instance's own report, as a frame's fields: the function, what is wrong with its arguments, and the
/// name, text and advice of each fact.
using Said = std::vector<std::string>;
constexpr std::size_t kFacts = 2;
constexpr std::size_t kFieldsOfFact = 3;

Said saidOf(const pop::Status& mine, const Facts& facts, const char* function) {
  Said said{function, mine.ok() ? "" : mine.message()};
  for (const Fact& fact : mine.ok() ? facts : Facts()) {
    for (const std::string* const each : {&fact.name, &fact.text, &fact.advice}) said.push_back(*each);
  }
  return said;
}

std::uint64_t wordOf(const Said& said) {
  std::string all;
  for (const std::string& each : said) all += each + '\0';
  return pop::contract::tagDigest(all);
}

/// All instances have the same number: its least is its largest.
bool isSame(Communicator& all, std::uint64_t number, const char* function) {
  std::array<std::uint64_t, 2> least{number, ~number};
  all.allReduce(std::span(least), Operator::kMin, {.tensor = function});
  return least[0] == ~least[1];
}

pop::Result<std::vector<Said>> everybodys(Communicator& all, const Said& own,
                                          std::chrono::milliseconds timeout) {
  POP_ASSIGN_OR_RETURN(const std::string bytes, pop::contract::encode(Frame{0, own}));
  POP_ASSIGN_OR_RETURN(const std::vector<std::string> texts, exchange(all, bytes, timeout));
  std::vector<Said> said;
  for (const std::string& text : texts) {
    pop::contract::FrameReader reader;
    reader.append(text);
    POP_ASSIGN_OR_RETURN(std::optional<Frame> frame, reader.next());
    if (!frame || frame->fields.size() < kFacts) return pop::internalError("an instance says nothing");
    said.push_back(std::move(frame->fields));
  }
  return said;
}

/// The part of a long text around `at`.
std::string excerpt(const std::string& text, std::size_t at) {
  const std::size_t begin = text.size() <= kExcerptBytes ? 0 : at - std::min(at, kBeforeDifferenceBytes);
  const std::string part = text.substr(begin, kExcerptBytes);
  return pop::inQuotes((begin > 0 ? "…" : "") + part + (begin + part.size() < text.size() ? "…" : ""));
}

/// The first instance that says something else than instance 0 in a field.
std::optional<std::size_t> firstOther(const std::vector<Said>& all, std::size_t field) {
  for (std::size_t instance = 1; instance < all.size(); ++instance)
    if (all[instance].at(field) != all.front().at(field)) return instance;
  return std::nullopt;
}

std::string difference(const std::vector<Said>& all, std::size_t field, std::size_t other) {
  const std::string& first = all.front()[field];
  const std::string& others = all[other][field];
  const auto parted = std::mismatch(first.begin(), first.end(), others.begin(), others.end()).first;
  const auto at = static_cast<std::size_t>(parted - first.begin());
  return excerpt(first, at) + " on instance 0 and " + excerpt(others, at) + " on instance " +
         std::to_string(other);
}

pop::Status judge(const std::vector<Said>& all) {
  if (const auto other = firstOther(all, 0))
    return pop::failedPrecondition("the call is " + difference(all, 0, *other) +
                                   ": make the same calls in the same order on all instances");
  for (std::size_t instance = 0; instance < all.size(); ++instance) {
    if (!all[instance][1].empty())
      return pop::failedPrecondition("instance " + std::to_string(instance) +
                                     " refuses its arguments: " + all[instance][1]);
  }
  for (std::size_t fact = kFacts; fact + kFieldsOfFact <= all.front().size(); fact += kFieldsOfFact) {
    for (const std::size_t field : {fact, fact + 1}) {
      if (const auto other = firstOther(all, field))
        return pop::failedPrecondition(all.front()[fact] + " is " + difference(all, field, *other) + ": " +
                                       all.front()[fact + 2]);
    }
  }
  return {};
}

pop::Status compare(Context& context, const Said& own, const char* function) {
  Communicator& all = internal::ownCommunicator(context);
  if (isSame(all, wordOf(own), function)) return {};
  POP_ASSIGN_OR_RETURN(const std::vector<Said> said, everybodys(all, own, context.timeout()));
  return judge(said);
}

}  // namespace

void requireSame(Context& context, const pop::Status& mine, const Facts& facts, const char* function) {
  const pop::Status all =
      context.numInstances() == 1 ? pop::Status() : compare(context, saidOf(mine, facts, function), function);
  throwIfError(mine, function);
  throwIfError(all, function);
}

void requireSame(Context& context, const Facts& facts, const char* function) {
  requireSame(context, {}, facts, function);
}

void requireSound(Context& context, const pop::Status& mine, const char* function) {
  requireSame(context, mine, {}, function);
}

}  // namespace popdist::train
