// SPDX-License-Identifier: Apache-2.0
#include "common/contract/fence_slots.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace pop::contract {
namespace {

class FenceSlots : public ::testing::Test {
 protected:
  // Enters as an instance does; true: it asks the agent to look.
  bool enter(std::size_t instance, std::string_view tag = "fence", bool by_message = false) {
    FenceSlot& slot = slots[instance];
    enterSlot(slot, slot.entered + 1, tag, by_message);
    return concernsAgent(slots, tag);
  }
  void answer(std::size_t instance) { slots[instance].answered = slots[instance].entered.load(); }

  std::array<FenceSlot, 3> slots;
};

TEST_F(FenceSlots, TheLastToEnterAsksTheAgent) {
  EXPECT_FALSE(enter(2));
  EXPECT_FALSE(enter(0));
  EXPECT_TRUE(enter(1));
}

TEST_F(FenceSlots, WhoHasBeenAnsweredIsInsideNoMore) {
  enter(0);
  EXPECT_TRUE(isInside(slots[0]));
  answer(0);
  EXPECT_FALSE(isInside(slots[0]));
  enter(1);
  EXPECT_FALSE(enter(2)) << "instance 0 has left";
  EXPECT_TRUE(enter(0));
}

TEST_F(FenceSlots, WhoComesForSomethingElseAsksTheAgentAtOnce) {
  EXPECT_FALSE(enter(0, "communicator 1"));
  EXPECT_TRUE(enter(1, "communicator 2"));
  answer(0);
  answer(1);
  EXPECT_FALSE(enter(2, "communicator 3")) << "what others have left is past";
}

TEST_F(FenceSlots, WhoComesByMessageIsSeenByTheOthers) {
  EXPECT_FALSE(enter(0, "fence", true));
  EXPECT_FALSE(enter(1));
  EXPECT_TRUE(enter(2));
}

TEST_F(FenceSlots, ATagIsReadBackAsFarAsItFits) {
  enter(0, "communicator 3 of 7 ranks");
  EXPECT_EQ(tagOf(slots[0]), "communicator 3 of 7 ranks");
  const std::string long_tag(kSlotTagBytes + 50, 'x');
  enter(1, long_tag, true);
  EXPECT_EQ(tagOf(slots[1]), long_tag.substr(0, kSlotTagBytes));
  enter(2, "");
  EXPECT_EQ(tagOf(slots[2]), "");
}

TEST_F(FenceSlots, ATagOfAnyLengthSomebodyClaimsIsNoMoreThanItsSlot) {
  enter(0, "fence");
  slots[0].tag_bytes = UINT32_MAX;
  EXPECT_EQ(tagOf(slots[0]).size(), kSlotTagBytes);
}

TEST_F(FenceSlots, NumbersOfEntriesMayWrap) {
  slots[0].entered = slots[0].answered = UINT32_MAX;
  enter(0);
  EXPECT_TRUE(isInside(slots[0]));
  EXPECT_EQ(slots[0].entered, 0U);
}

TEST_F(FenceSlots, OfThoseWhoEnterAtOnceSomebodyAsks) {
  std::atomic<int> asked = 0;
  std::barrier all(3);
  std::vector<std::jthread> instances;
  for (std::size_t instance = 0; instance < 3; ++instance) {
    instances.emplace_back([&, instance] {
      for (int round = 0; round < 2000; ++round) {
        all.arrive_and_wait();
        if (enter(instance)) ++asked;
        all.arrive_and_wait();
        if (instance == 0) {
          EXPECT_GE(asked.exchange(0), 1) << "in round " << round;
          for (std::size_t each = 0; each < 3; ++each) answer(each);
        }
      }
    });
  }
}

}  // namespace
}  // namespace pop::contract
