// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/choice/in_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace popdist::choice {

// For failures.
static void PrintTo(const PlanChoice& choice, std::ostream* out) {
  *out << nameOf(choice.algorithm) << ", order " << static_cast<int>(choice.order)
       << (choice.gives ? ", gives" : "") << (choice.is_trial ? ", on trial" : "");
}

namespace {

using plan::EagerOrder;
using plan::Offer;
using plan::Operation;

constexpr std::size_t kMany = std::size_t{1} << 30;
constexpr std::size_t kEagerBytes = 256 << 10;
constexpr auto kEager = SharedAlgorithm::kEager;
constexpr auto kStaged = SharedAlgorithm::kStaged;
constexpr auto kDirect = SharedAlgorithm::kDirect;
constexpr auto kPull = SharedAlgorithm::kPull;

MemoryChoice choiceOf(int ranks, std::optional<SharedAlgorithm> forced = {},
                      bool readers_write_back = false) {
  return MemoryChoice({ranks, kEagerBytes, readers_write_back, forced});
}

TEST(SharedAlgorithms, AreFoundByTheirNames) {
  for (const SharedAlgorithm each : {kEager, kStaged, kDirect, kPull})
    EXPECT_EQ(sharedAlgorithmNamed(nameOf(each)), each);
  EXPECT_FALSE(sharedAlgorithmNamed("fastest").has_value());
}

// ---- from the offers of all ranks to the plan

// The offers of three ranks, from rank 0's point of view, which receives: 'y' yes, 'n' no, 'N' no, though its
// output can be given, '-' no matter, 'u' unreadable, 'p' pieces.
struct Row {
  const char* offers;
  std::size_t bytes;
  bool pulls;
  PlanChoice chosen;
};

RankOffer offerNamed(char name) {
  switch (name) {
    case 'y':
      return {Offer::kYes, true};
    case 'N':
      return {Offer::kNo, true};
    case '-':
      return {Offer::kNoMatter, false};
    case 'u':
      return {Offer::kUnreadable, false};
    case 'p':
      return {Offer::kPieces, true};
    default:
      return {Offer::kNo, false};
  }
}

std::vector<RankOffer> offersNamed(const std::string& names) {
  std::vector<RankOffer> offers;
  for (const char name : names) offers.push_back(offerNamed(name));
  return offers;
}

// The choice of a rank that is told what it depends on, as callers do.
PlanChoice chosenBy(std::size_t rank, const MemoryChoice& choice, const MemoryCall& call,
                    const std::vector<RankOffer>& all, bool pulls, std::optional<SharedAlgorithm> turn = {}) {
  Offers offers{.own = all[rank].offer, .pulls = pulls, .turn = turn};
  if (choice.dependsOnOffers(call, offers)) offers.all = all;
  return choice.choose(call, offers);
}

TEST(ChoiceInMemory, FollowsFromAllOffers) {
  constexpr std::size_t kSmall = 2 << 10;
  constexpr std::size_t kMedium = 10 << 10;
  const std::vector<Row> rows{
      // too small for anything but the stages, whatever is offered
      {"yyy", kSmall, false, {kEager}},
      {"nnn", kSmall, false, {kEager}},
      {"yyy", kMedium, false, {.algorithm = kDirect, .gives = true}},
      {"yny", kMedium, false, {kStaged, EagerOrder::kMeetFirst}},
      {"nyy", kMedium, false, {kStaged, EagerOrder::kExportFirst}},
      {"nnn", kMedium, false, {kStaged, EagerOrder::kExportFirst}},
      {"y-y", kMedium, false, {.algorithm = kDirect, .gives = false}},
      {"ppp", kMedium, false, {.algorithm = kDirect, .gives = true}},
      {"ypy", kMedium, false, {.algorithm = kDirect, .gives = true}},
      {"pny", kMedium, false, {kStaged, EagerOrder::kMeetFirst}},
      // where private memory can be read
      {"yyy", kMany, true, {.algorithm = kDirect, .gives = true}},
      {"nnn", kMany, true, {kPull}},
      {"yny", kMany, true, {kPull}},
      {"-NN", kMany, true, {kPull}},
      {"nun", kMany, true, {kStaged}},
      {"yuy", kMany, true, {kStaged}},
      {"pny", kMany, true, {kStaged}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(chosenBy(0, choiceOf(3), {.largest_bytes = row.bytes}, offersNamed(row.offers), row.pulls),
              row.chosen)
        << row.offers << ", " << row.bytes << " bytes" << (row.pulls ? ", can be read" : "");
  }
}

TEST(ChoiceInMemory, IsTheTurnOfTheTrialWhereMemoryIsReadAndOnlyThere) {
  const MemoryCall call{.largest_bytes = kMany};
  for (const SharedAlgorithm turn : {kStaged, kPull}) {
    EXPECT_EQ(chosenBy(0, choiceOf(3), call, offersNamed("nny"), true, turn),
              (PlanChoice{.algorithm = turn, .is_trial = true}));
    EXPECT_EQ(chosenBy(0, choiceOf(3), call, offersNamed("nuy"), true, turn), PlanChoice{kStaged});
    EXPECT_EQ(chosenBy(0, choiceOf(3), call, offersNamed("yyy"), true, turn),
              (PlanChoice{.algorithm = kDirect, .gives = true}));
  }
}

TEST(ChoiceInMemory, GivesOnlyWhatItsReceiversCanBeGiven) {
  const std::vector<RankOffer> all{{Offer::kNoMatter, true}, {Offer::kYes, false}, {Offer::kYes, false}};
  EXPECT_TRUE(chosenBy(0, choiceOf(3), {Operation::kGather, kMany, 0}, all, false).gives);
  EXPECT_FALSE(chosenBy(0, choiceOf(3), {Operation::kGather, kMany, 1}, all, false).gives);
  EXPECT_FALSE(chosenBy(0, choiceOf(3), {Operation::kAllGather, kMany}, all, false).gives);
}

TEST(ChoiceInMemory, IsTheForcedAlgorithmWhereThatCanBe) {
  const auto chosen = [](SharedAlgorithm forced, std::size_t bytes, const char* offers) {
    const MemoryCall call{.largest_bytes = bytes};
    const MemoryChoice choice = choiceOf(3, forced);
    return chosenBy(0, choice, call, offersNamed(offers), choice.betterForReadable(call) == kPull).algorithm;
  };
  EXPECT_EQ(chosen(kEager, kEagerBytes, "yyy"), kEager);
  EXPECT_EQ(chosen(kEager, kEagerBytes + 1, "nnn"), kStaged);
  EXPECT_EQ(chosen(kEager, kEagerBytes + 1, "yyy"), kDirect);
  EXPECT_EQ(chosen(kStaged, 100, "yyy"), kStaged);
  EXPECT_EQ(chosen(kDirect, 100, "yyy"), kDirect);
  EXPECT_EQ(chosen(kDirect, 100, "yny"), kStaged);
  EXPECT_EQ(chosen(kPull, 100, "nnn"), kPull);
  EXPECT_EQ(chosen(kPull, 100, "yyy"), kDirect);
}

// Offers of three ranks, in all ways.
std::vector<std::string> allOffers() {
  std::vector<std::string> all;
  const std::string names = "ynN-up";
  for (const char first : names)
    for (const char second : names)
      for (const char third : names) all.push_back({first, second, third});
  return all;
}

class ForcedChoice : public ::testing::TestWithParam<std::optional<SharedAlgorithm>> {
 protected:
  static void expectSameOnAllRanks(const MemoryCall& call, const std::string& offers, bool pulls) {
    const std::vector<RankOffer> all = offersNamed(offers);
    const PlanChoice first = chosenBy(0, choiceOf(3, GetParam()), call, all, pulls);
    for (const std::size_t rank : {1U, 2U}) {
      const PlanChoice other = chosenBy(rank, choiceOf(3, GetParam()), call, all, pulls);
      EXPECT_EQ(std::tuple(other.algorithm, other.gives, other.order == EagerOrder::kOnly),
                std::tuple(first.algorithm, first.gives, first.order == EagerOrder::kOnly))
          << nameOf(call.operation) << ' ' << call.largest_bytes << ' ' << offers << ' ' << pulls;
    }
  }
};

// Ranks see different buffers before they meet. If two of them chose differently, they would wait for each
// other for ever.
TEST_P(ForcedChoice, IsTheSameOnAllRanksWhateverTheyOffer) {
  for (const auto operation : {Operation::kAllReduce, Operation::kBroadcast, Operation::kGather}) {
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{10} << 10, kEagerBytes, kMany}) {
      for (const std::string& offers : allOffers()) {
        expectSameOnAllRanks({operation, bytes, 1}, offers, true);
        // Only where memory may be read ranks say that theirs cannot be.
        if (offers.find('u') == std::string::npos) expectSameOnAllRanks({operation, bytes, 1}, offers, false);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ForcedChoice,
                         ::testing::Values(std::nullopt, kEager, kStaged, kDirect, kPull),
                         [](const auto& tested) { return tested.param ? nameOf(*tested.param) : "none"; });

// ---- when ranks meet for the choice alone

TEST(ChoiceInMemory, NeedsNoOffersForSmallCallsOrByARankThatHasNone) {
  const MemoryCall small{.largest_bytes = 512};
  const MemoryCall large{.largest_bytes = kMany};
  for (const int ranks : {2, 3, 4, 8, 100}) {
    for (const Offer own : {Offer::kNo, Offer::kYes, Offer::kNoMatter, Offer::kPieces}) {
      EXPECT_FALSE(choiceOf(ranks).dependsOnOffers(small, {.own = own}));
      EXPECT_EQ(choiceOf(ranks).dependsOnOffers(large, {.own = own}), own != Offer::kNo);
      EXPECT_TRUE(choiceOf(ranks).dependsOnOffers(large, {.own = own, .pulls = true}));
      EXPECT_FALSE(choiceOf(ranks, kStaged).dependsOnOffers(large, {.own = own}));
    }
  }
}

TEST(Pulling, IsFoundOutForWhatIsLarge) {
  for (const int ranks : {2, 3, 4, 8, 100}) {
    for (const Operation operation :
         {Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather, Operation::kAllToAll,
          Operation::kBroadcast, Operation::kGather, Operation::kScatter}) {
      EXPECT_EQ(choiceOf(ranks).betterForReadable({operation, kMany}), std::nullopt);
      EXPECT_EQ(choiceOf(ranks).betterForReadable({operation, 64 << 10}), kStaged);
    }
    EXPECT_EQ(choiceOf(ranks).betterForReadable({Operation::kReduce, kMany}), kStaged);
  }
}

TEST(Pulling, IsNotFoundOutIfTheAlgorithmIsForced) {
  for (const SharedAlgorithm forced : {kEager, kStaged, kDirect})
    EXPECT_EQ(choiceOf(3, forced).betterForReadable({.largest_bytes = kMany}), kStaged);
  EXPECT_EQ(choiceOf(3, kPull).betterForReadable({.largest_bytes = 100}), kPull);
  EXPECT_EQ(choiceOf(3, kPull).betterForReadable({Operation::kReduce, kMany}), kStaged);
}

TEST(RanksThatShareCores, DoNotGoInStepWhereOneHasWhatAllWaitFor) {
  EXPECT_FALSE(looksBeforeGivingWay(Operation::kBroadcast, kStaged));
  EXPECT_TRUE(looksBeforeGivingWay(Operation::kBroadcast, kEager));
  EXPECT_TRUE(looksBeforeGivingWay(Operation::kAllReduce, kStaged));
}

// ---- sendRecv

TEST(Transfers, ArePulledIfTheyAreLargeAndReadersDoNotWriteBack) {
  for (const int ranks : {2, 3, 4, 8, 100}) {
    EXPECT_TRUE(choiceOf(ranks).isTransferWorthPulling(kMany));
    EXPECT_FALSE(choiceOf(ranks).isTransferWorthPulling(16 << 10));
    EXPECT_FALSE(choiceOf(ranks, {}, true).isTransferWorthPulling(kMany));
    EXPECT_TRUE(choiceOf(ranks, kPull, true).isTransferWorthPulling(1));
    EXPECT_FALSE(choiceOf(ranks, kStaged).isTransferWorthPulling(kMany));
  }
}

TEST(Transfers, GoStraightFromMemoryThatAllCanReadUnlessTheyAreSmall) {
  EXPECT_EQ(choiceOf(3).transfer(kMany, true), kDirect);
  EXPECT_EQ(choiceOf(3).transfer(kMany, false), kStaged);
  EXPECT_EQ(choiceOf(3).transfer(100, true), kEager);
  EXPECT_EQ(choiceOf(3, kDirect).transfer(100, true), kDirect);
  EXPECT_EQ(choiceOf(3, kStaged).transfer(100, true), kStaged);
  EXPECT_EQ(choiceOf(3, kEager).transfer(kEagerBytes, true), kEager);
  EXPECT_EQ(choiceOf(3, kEager).transfer(kEagerBytes + 1, false), kStaged);
}

}  // namespace
}  // namespace popdist::choice
