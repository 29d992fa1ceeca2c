// SPDX-License-Identifier: Apache-2.0
// Where fused tensors lie is each member's own business: the sums are the same, whoever has them in one piece
// or in many, in memory of its own or in what the host's instances share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/buffer.hpp"
#include "popdist/fused.hpp"
#include "tests/unit/libpopdist/collectives/async/members.h"

namespace popdist {
namespace {

using ::testing::AllOf;
using testing::errorOf;
using testing::everybody;
using ::testing::HasSubstr;
using testing::ThreadGroup;

enum class Place { kPrivate, kPrivatePiece, kShared, kSharedPiece, kBoth };

template <typename T>
class PlacedTensors {
 public:
  // Those in pieces have an element between them: the second one lies oddly.
  PlacedTensors(Context& context, Place place, const std::vector<std::size_t>& counts) {
    const bool apart = place != Place::kPrivatePiece && place != Place::kSharedPiece;
    std::size_t elements = 0;
    for (const std::size_t count : counts) elements += count + 1;
    own_.resize(elements);
    shared_.emplace(context, elements * sizeof(T));
    std::size_t at = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const bool is_shared =
          place == Place::kShared || place == Place::kSharedPiece || (place == Place::kBoth && i % 2 == 0);
      all_.push_back({"tensor " + std::to_string(i), (is_shared ? shared_->as<T>() : own_.data()) + at,
                      counts[i], typeOf<T>()});
      at += counts[i] + (apart ? 1 : 0);
    }
  }
  const std::vector<FusedTensor>& all() const { return all_; }

  // Element j of the vector of all of them, which the sum over the ranks tells apart from any other.
  void fill(int rank, int step) {
    std::size_t j = 0;
    for (const FusedTensor& tensor : all_) {
      for (std::size_t i = 0; i < tensor.count; ++i, ++j)
        static_cast<T*>(tensor.data)[i] = T(static_cast<float>(value(j, step) * (rank + 1)));
    }
  }
  void expectSums(int ranks, int step) const {
    std::size_t j = 0;
    for (const FusedTensor& tensor : all_) {
      for (std::size_t i = 0; i < tensor.count; ++i, ++j) {
        const auto expected = static_cast<float>(value(j, step) * (ranks * (ranks + 1) / 2));
        ASSERT_EQ(static_cast<float>(static_cast<const T*>(tensor.data)[i]), expected)
            << tensor.name << ", element " << i;
      }
    }
  }

 private:
  // Small enough for sums of 16-bit floats to be exact.
  static int value(std::size_t j, int step) {
    return static_cast<int>((j + static_cast<std::size_t>(step)) % 11);
  }

  std::vector<T> own_;
  std::optional<Buffer> shared_;
  std::vector<FusedTensor> all_;
};

struct FusedCase {
  std::string name;
  std::vector<Place> places;  ///< of rank r: places[r % size]
  std::optional<choice::SharedAlgorithm> forced{};
  bool tcp_only = false;

  friend void PrintTo(const FusedCase& tested, std::ostream* out) { *out << tested.name; }
};

using Algorithm = choice::SharedAlgorithm;
const std::vector<FusedCase> kCases{
    {"AllShared", {Place::kShared}},
    {"SharedOrInOnePiece", {Place::kShared, Place::kSharedPiece}},
    {"SharedOrPrivate", {Place::kPrivate, Place::kShared}},
    {"SharedOrInOnePrivatePiece", {Place::kShared, Place::kPrivatePiece}},
    {"EveryWay", {Place::kShared, Place::kBoth, Place::kPrivatePiece, Place::kSharedPiece, Place::kPrivate}},
    {"Staged", {Place::kShared, Place::kPrivatePiece}, Algorithm::kStaged},
    {"StagedAllShared", {Place::kShared}, Algorithm::kStaged},
    {"Eager", {Place::kShared, Place::kSharedPiece}, Algorithm::kEager},
    {"Direct", {Place::kSharedPiece, Place::kShared}, Algorithm::kDirect},
    {"Pull", {Place::kPrivatePiece, Place::kShared}, Algorithm::kPull},
    {"PullAllShared", {Place::kShared}, Algorithm::kPull},
    {"OverTcp", {Place::kShared, Place::kPrivatePiece}, {}, true},
};

class FusedPlacement : public ::testing::TestWithParam<std::tuple<int, FusedCase>> {
 protected:
  // Steps with the tensors of such counts.
  template <typename T>
  void run(const std::vector<std::size_t>& counts, int steps) {
    const auto& [ranks, placed] = GetParam();
    ThreadGroup group({.replicas_of_instance = std::vector<int>(static_cast<std::size_t>(ranks), 1),
                       .transport = {.tcp_only = placed.tcp_only}});
    group.run([&](Context& context) {
      context.impl().state.forced = choice::ForcedAlgorithms{.in_memory = placed.forced};
      AsyncCommunicator members = everybody(context);
      const auto rank = static_cast<std::size_t>(context.instanceIndex());
      PlacedTensors<T> tensors(context, placed.places[rank % placed.places.size()], counts);
      FusedAllReduce fused(context, members, "gradients", tensors.all());
      EXPECT_EQ(fused.buckets(), 1U);
      for (int step = 0; step < steps; ++step) {
        tensors.fill(context.instanceIndex(), step);
        fused.reduce();
        tensors.expectSums(context.numInstances(), step);
      }
    });
  }
};

INSTANTIATE_TEST_SUITE_P(All, FusedPlacement,
                         ::testing::Combine(::testing::Values(2, 3, 5), ::testing::ValuesIn(kCases)),
                         [](const auto& test) {
                           return std::get<1>(test.param).name + std::to_string(std::get<0>(test.param));
                         });

TEST_P(FusedPlacement, OfWhatFitsANote) {
  run<float>({3, 0, 1, 5}, 3);
}
TEST_P(FusedPlacement, OfLittle) {
  run<float>({100, 1, 0, 300, 17, 29}, 3);
}
TEST_P(FusedPlacement, OfSome) {
  run<bfloat16>({2001, 5, 6000, 1, 1, 700}, 3);
}
TEST_P(FusedPlacement, OfMuch) {
  run<float>({70'001, 3, 100'000, 29'997, 1, 1}, 12);  // till its way is found out
}

TEST(FusedTensors, AreCopiedOnlyForMessages) {
  const auto copied = [](Place place, bool tcp_only) {
    std::size_t bytes = 0;
    ThreadGroup group({.replicas_of_instance = {1, 1}, .transport = {.tcp_only = tcp_only}});
    group.run([&](Context& context) {
      AsyncCommunicator members = everybody(context);
      PlacedTensors<float> tensors(context, place, {20, 20});
      const FusedAllReduce fused(context, members, "gradients", tensors.all());
      if (context.instanceIndex() == 0) bytes = fused.copiedBytes();
    });
    return bytes;
  };
  EXPECT_EQ(copied(Place::kShared, false), 0U);
  EXPECT_EQ(copied(Place::kSharedPiece, false), 0U);
  EXPECT_EQ(copied(Place::kPrivatePiece, false), 0U);
  EXPECT_EQ(copied(Place::kPrivate, false), 0U);
  EXPECT_EQ(copied(Place::kBoth, false), 0U);
  EXPECT_EQ(copied(Place::kShared, true), 160U);
  EXPECT_EQ(copied(Place::kSharedPiece, true), 0U);
}

TEST(FusedTensors, OfOtherCountsAreAnErrorThoughAsManyTogether) {
  ThreadGroup group(2);
  group.run([](Context& context) {
    AsyncCommunicator members = everybody(context);
    const bool odd = context.instanceIndex() == 1;
    PlacedTensors<float> tensors(
        context, Place::kShared,
        odd ? std::vector<std::size_t>{800, 2000} : std::vector<std::size_t>{1000, 1800});
    FusedAllReduce fused(context, members, "gradients", tensors.all());
    const popdist_error error = errorOf([&] { fused.reduce(); });
    EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("'gradients/bucket 0'"), HasSubstr("packed tensor 0 ends at byte "),
                      HasSubstr("at byte 3200"), HasSubstr("at byte 4000")));
    EXPECT_EQ(error.peer(), 1 - context.instanceIndex()) << error.what();
  });
}

}  // namespace
}  // namespace popdist
