// SPDX-License-Identifier: Apache-2.0
// What makes groups of instances gives back what it has taken: memory of the segment, of this process, and of
// those who keep what instances have put.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/async.hpp"
#include "popdist/batch_norm.hpp"
#include "popdist/communicator.hpp"
#include "popdist/pod.hpp"
#include "tests/testing/thread_group.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace popdist {
namespace {

using testing::GroupShape;
using testing::ThreadGroup;

std::uint64_t segmentTaken(Context& context) {
  return context.impl().state.link->segment().header()->next_free.load();
}

/// Of all instances, which are threads of this process.
std::size_t heapTaken() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // mallinfo2() fails where several threads are the first to ask an allocator that nobody uses.
  return __sanitizer_get_current_allocated_bytes();
#else
  return mallinfo2().uordblks;
#endif
}

/// Every instance makes and drops so many, after some to begin with.
void expectFlat(GroupShape shape, int times, const std::function<void(Context&, int)>& make) {
  constexpr int kWarmUps = 16;
  ThreadGroup(std::move(shape)).run([&](Context& context) {
    for (int i = 0; i < kWarmUps; ++i) make(context, i);
    context.fence();
    const std::uint64_t segment = segmentTaken(context);
    const std::size_t heap = heapTaken();
    context.fence();
    for (int i = 0; i < times; ++i) make(context, i);
    context.fence();
    EXPECT_LE(segmentTaken(context), 2 * segment) << "an instance may still have what others have dropped";
    EXPECT_LT(heapTaken(), heap + 64 * 1024);
    context.fence();
  });
}

void makeCommunicator(Context& context, int round) {
  const auto all = context.createCommunicator({0, 1, 2});
  const auto two =
      context.createCommunicator(round % 2 == 0 ? std::set<unsigned>{0, 1} : std::set<unsigned>{1, 2});
  float value = 1;
  if (all) all->allReduce(&value, &value, 1, Type::kFloat);
  EXPECT_EQ(value, 3.0F);
}

TEST(GivenBack, CommunicatorsOfAHost) {
  expectFlat({.replicas_of_instance = {1, 1, 1}}, 1500, makeCommunicator);
}

TEST(GivenBack, CommunicatorsByMessages) {
  expectFlat({.replicas_of_instance = {1, 1, 1}, .instances_per_host = 2}, 100, makeCommunicator);
}

/// By its members alone, many of which live at once.
void makeWithoutOthers(Context& context, int round) {
  const auto self = static_cast<unsigned>(context.instanceIndex());
  const std::set<unsigned> members{round % 2 == 0 ? self & ~1U : self & 1U,
                                   round % 2 == 0 ? self | 1U : self | 2U};
  constexpr int kAtOnce = 4;
  std::vector<std::unique_ptr<Communicator>> made;
  for (int i = 0; i < kAtOnce; ++i)
    made.push_back(context.createCommunicator(members, "group " + std::to_string(round * kAtOnce + i)));
  float value = 1;
  made.back()->allReduce(&value, &value, 1, Type::kFloat);
  EXPECT_EQ(value, 2.0F);
}

TEST(GivenBack, CommunicatorsOfMembersAlone) {
  expectFlat({.replicas_of_instance = {1, 1, 1, 1}}, 500, makeWithoutOthers);
}

TEST(GivenBack, CommunicatorsOfMembersAloneOverHosts) {
  expectFlat({.replicas_of_instance = {1, 1, 1, 1}, .instances_per_host = 2}, 50, makeWithoutOthers);
}

TEST(GivenBack, PodsAndAsynchronousCommunicators) {
  expectFlat({.replicas_of_instance = {2, 2}}, 100, [](Context& context, int) {
    const Pod pod(context);
    const AsyncCommunicator async(context.createCommunicator({0, 1}));
  });
}

TEST(GivenBack, GroupsOfBatchNorm) {
  expectFlat({.replicas_of_instance = {1, 1, 1, 1}}, 200,
             [](Context& context, int) { const train::BatchNorm norm(context, {.channels = 1, .span = 2}); });
}

/// The piece is used by whoever has not dropped it yet.
TEST(GivenBack, NothingThatAnotherStillHas) {
  ThreadGroup(2).run([](Context& context) {
    std::unique_ptr<Communicator> kept = context.createCommunicator({0, 1});
    if (context.instanceIndex() == 0) kept.reset();
    for (int i = 0; i < 4; ++i) {
      const auto other = context.createCommunicator({0, 1});
      float value = 1;
      other->allReduce(&value, &value, 1, Type::kFloat);
      EXPECT_EQ(value, 2.0F);
      if (kept) {
        EXPECT_EQ(kept->rank(), 1);
      }
    }
  });
}

}  // namespace
}  // namespace popdist
