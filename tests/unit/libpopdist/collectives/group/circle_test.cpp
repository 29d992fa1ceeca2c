// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/circle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "common/contract/station.h"

namespace popdist::group {
namespace {

using pop::contract::Station;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Stations at each of which a thread waits.
class CircleTest : public ::testing::Test {
 protected:
  CircleTest() {
    for (Station& each : stations_) pop::contract::enterStation(each, 0, "barrier");
  }

  std::uint64_t waitAt(std::size_t station) const {
    return pop::contract::waitOf(station, stations_[station].wait);
  }
  void block(std::size_t station, const std::vector<std::size_t>& blockers) {
    auto next = stations_[station].blockers.begin();
    for (const std::size_t each : blockers) *next++ = waitAt(each);
  }
  void waitAnew(std::size_t station) {
    pop::contract::leaveStation(stations_[station]);
    pop::contract::enterStation(stations_[station], 0, "barrier");
  }
  std::vector<std::uint64_t> circleOf(std::size_t station) const {
    return circleThrough(stations_, waitAt(station));
  }

  std::vector<Station> stations_ = std::vector<Station>(6);
};

TEST_F(CircleTest, HasAnyNumberOfWaits) {
  block(0, {1});
  block(1, {2});
  block(2, {0});
  EXPECT_THAT(circleOf(0), ElementsAre(waitAt(0), waitAt(1), waitAt(2)));
  EXPECT_THAT(circleOf(1), ElementsAre(waitAt(1), waitAt(2), waitAt(0)));
}

TEST_F(CircleTest, IsFoundBehindAnyBlocker) {
  block(0, {4, 5, 1});
  block(4, {5});
  block(1, {3, 2});
  block(2, {0});
  EXPECT_THAT(circleOf(0), ElementsAre(waitAt(0), waitAt(1), waitAt(2)));
}

TEST_F(CircleTest, IsAShortestOne) {
  block(0, {1, 3});
  block(1, {2});
  block(2, {0});
  block(3, {0});
  EXPECT_THAT(circleOf(0), ElementsAre(waitAt(0), waitAt(3)));
}

TEST_F(CircleTest, IsNoneForThoseThatWaitForOne) {
  block(0, {1});
  block(1, {2});
  block(2, {1});
  EXPECT_THAT(circleOf(0), IsEmpty());
  EXPECT_THAT(circleOf(3), IsEmpty());
}

TEST_F(CircleTest, IsNoneIfAWaitOfItHasEnded) {
  block(0, {1});
  block(1, {2});
  block(2, {0});
  waitAnew(1);
  EXPECT_THAT(circleOf(0), IsEmpty());
  EXPECT_THAT(circleOf(2), IsEmpty());
  block(1, {2});
  EXPECT_THAT(circleOf(2), IsEmpty()) << "the wait that blocked it was another";
}

TEST_F(CircleTest, TakesNothingFromWordsThatNameNoStation) {
  stations_[0].blockers[0] = UINT64_MAX;
  stations_[0].blockers[1] = 1;
  stations_[0].blockers[2] = pop::contract::waitOf(stations_.size(), 1);
  EXPECT_THAT(circleOf(0), IsEmpty());
}

}  // namespace
}  // namespace popdist::group
