// SPDX-License-Identifier: Apache-2.0
// What need not be in shared memory for a collective to go straight from and to the buffers of its callers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/buffer.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

constexpr std::size_t kDirectElements = 100'000;
constexpr std::size_t kDirectRanks = 3;
constexpr int kOdd = 1;  // the rank whose input is in private memory

// What is given by each rank, and received from all. Rank r gives elements that are r.
class DirectCall : public ::testing::Test {
 protected:
  template <typename Call>
  static void expectDirect(const Call& call, const std::vector<std::size_t>& received, int receiver) {
    testing::ThreadGroup group(kDirectRanks);
    group.run([&](Context& context) {
      Communicator& world = context.world();
      const int rank = world.rank();
      const Buffer shared(context, kDirectRanks * kDirectElements * sizeof(float));
      const Buffer out(context, kDirectRanks * kDirectElements * sizeof(float));
      std::vector<float> own(rank == kOdd ? kDirectRanks * kDirectElements : 0);
      float* const in = rank == kOdd ? own.data() : shared.as<float>();
      std::fill_n(in, kDirectRanks * kDirectElements, static_cast<float>(rank));
      call(world, in, out.as<float>());
      EXPECT_STREQ(world.impl().group().path().algorithmTaken(), "direct") << "rank " << rank;
      if (receiver >= 0 && rank != receiver) return;
      const float* next = out.as<float>();
      for (std::size_t from = 0; from < kDirectRanks; ++from) {
        EXPECT_EQ(std::count(next, next + received[from], static_cast<float>(from)),
                  static_cast<std::ptrdiff_t>(received[from]))
            << "from " << from << " on " << rank;
        next += received[from];
      }
    });
  }
};

TEST_F(DirectCall, IsAGatherWhoseRootHasAnInputOfItsOwn) {
  expectDirect([](Communicator& world, const float* in,
                  float* out) { world.gather(in, out, kDirectElements, Type::kFloat, kOdd); },
               {kDirectElements, kDirectElements, kDirectElements}, kOdd);
}

// Where all meet before the call anyway, as for what the system could read.
TEST_F(DirectCall, IsALongGatherWhoseRootHasNothingInSharedMemory) {
  expectDirect(
      [](Communicator& world, const float* in, float* out) {
        std::vector<float> own(world.rank() == kOdd ? kDirectRanks * kDirectElements : 0);
        world.gather(in, own.data(), kDirectElements, Type::kFloat, kOdd);
        std::copy(own.begin(), own.end(), out);
      },
      {kDirectElements, kDirectElements, kDirectElements}, kOdd);
}

TEST_F(DirectCall, IsAnAllGatherToWhichOneGivesNothing) {
  const std::vector<std::size_t> counts{kDirectElements, 0, kDirectElements};
  expectDirect([&](Communicator& world, const float* in,
                   float* out) { world.allGather(in, out, counts, Type::kFloat); },
               counts, -1);
}

TEST_F(DirectCall, IsAnAllToAllToWhichOneGivesNothing) {
  expectDirect(
      [](Communicator& world, const float* in, float* out) {
        const std::vector<std::size_t> sent(kDirectRanks, world.rank() == kOdd ? 0 : kDirectElements);
        const std::vector<std::size_t> received{kDirectElements, 0, kDirectElements};
        world.allToAll(in, sent, out, received, Type::kFloat);
      },
      {kDirectElements, 0, kDirectElements}, -1);
}

}  // namespace
}  // namespace popdist
