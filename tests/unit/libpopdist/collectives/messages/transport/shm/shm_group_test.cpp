// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/shm/shm_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/testing/thread_group.h"
#include "tests/unit/libpopdist/collectives/messages/transport/shm/shm_world.h"

namespace popdist::transport {
namespace {

using ::testing::HasSubstr;

// Message `number` from one rank to another: its length and bytes follow from the three.
std::vector<std::byte> messageText(int from, int to, int number) {
  std::vector<std::byte> text(static_cast<std::size_t>(1 + (from * 37 + to * 101 + number * 193) % 500));
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<std::byte>(from * 7 + to * 11 + number * 13 + static_cast<int>(i));
  }
  return text;
}

// Sends and receives parts of messages as they come; says when all are through.
class Pen {
 public:
  Pen(Connection& connection, int from, int to) : connection_(connection), from_(from), to_(to) {}

  bool trySend(int messages) {
    if (number_ == messages) return false;
    const std::vector<std::byte> text = messageText(from_, to_, number_);
    const std::size_t sent = connection_.trySend(std::span(text).subspan(moved_));
    moved_ += sent;
    if (moved_ == text.size()) next([this] { connection_.finishSend(); });
    return sent > 0;
  }

  bool tryReceive(int messages) {
    if (number_ == messages) return false;
    const std::vector<std::byte> text = messageText(from_, to_, number_);
    const auto ready = connection_.peek();
    const std::size_t part = std::min(ready.size(), text.size() - moved_);
    if (part == 0) return false;
    EXPECT_EQ(std::memcmp(ready.data(), text.data() + moved_, part), 0)
        << "message " << number_ << " from rank " << from_ << " to rank " << to_;
    connection_.consume(part);
    moved_ += part;
    if (moved_ == text.size()) next([this] { connection_.finishReceive(); });
    return true;
  }

  int number() const { return number_; }

 private:
  template <typename Finish>
  void next(Finish finish) {
    finish();
    moved_ = 0;
    ++number_;
  }

  Connection& connection_;
  const int from_;
  const int to_;
  int number_ = 0;
  std::size_t moved_ = 0;
};

// Everybody sends to everybody, itself included, from the thread of its process.
void exchange(ShmWorld& world, const std::vector<int>& local_ranks, int messages) {
  std::vector<Pen> senders;
  std::vector<Pen> receivers;
  for (const int rank : local_ranks) {
    for (int peer = 0; peer < world.size(); ++peer) {
      senders.emplace_back(world.connection(rank, peer), rank, peer);
      receivers.emplace_back(world.connection(rank, peer), peer, rank);
    }
  }
  const auto all_through = [messages](const std::vector<Pen>& pens) {
    return std::all_of(pens.begin(), pens.end(), [&](const Pen& pen) { return pen.number() == messages; });
  };
  while (!all_through(senders) || !all_through(receivers)) {
    bool moved = false;
    for (Pen& pen : senders) moved |= pen.trySend(messages);
    for (Pen& pen : receivers) moved |= pen.tryReceive(messages);
    if (!moved) sched_yield();
  }
}

void exchangeBetween(const std::vector<std::vector<int>>& ranks_of_process, int messages) {
  ShmWorld world(ranks_of_process);
  testing::runThreads(static_cast<int>(ranks_of_process.size()), [&](int process) {
    exchange(world, ranks_of_process[static_cast<std::size_t>(process)], messages);
  });
}

TEST(ShmGroup, CarriesMessagesInOrderBetweenAllPairs) {
  exchangeBetween({{0}, {1}, {2}, {3}, {4}}, 300);
}

TEST(ShmGroup, CarriesMoreThanAChannelHolds) {
  exchangeBetween({{0}, {1}}, 3000);
}

TEST(ShmGroup, ConnectsLocalRanksWithEachOtherAndWithThemselves) {
  exchangeBetween({{0, 1, 2}}, 300);
}

TEST(ShmGroup, ConnectsProcessesWithSeveralRanksEach) {
  exchangeBetween({{0, 3}, {1}, {2, 4, 5}}, 200);
}

TEST(ShmGroup, KeepsGroupsOfOneSegmentApart) {
  TestSegment segment;
  const std::array<int, 2> ranks{0, 1};
  const auto make = [&] {
    auto group = ShmGroup::create(segment.view(), 2, ranks).value();
    EXPECT_TRUE(group->connect(std::vector<std::string>{group->address(0), group->address(1)}).ok());
    return group;
  };
  const auto one = make();
  const auto other = make();
  one->endpoint(0).peer(1).trySend(std::array<std::byte, 1>{std::byte{7}});
  EXPECT_TRUE(other->endpoint(1).peer(0).peek().empty());
  EXPECT_EQ(one->endpoint(1).peer(0).peek().size(), 1U);
}

TEST(ShmGroup, HasRoomForAAbortMessageWhereNobodyReads) {
  ShmWorld world = ShmWorld::oneRankEach(2);
  Connection& sender = world.connection(0, 1);
  const std::array<std::byte, kMessageAlignmentBytes> message{};
  std::size_t sent = 0;
  while (sender.trySend(message) == message.size()) {
    sender.finishSend();
    sent += message.size();
  }
  const std::vector<std::byte> abort_message(kMaxAbortMessageBytes, std::byte{7});
  sender.abandon(abort_message);

  Connection& reader = world.connection(1, 0);
  std::vector<std::byte> read(sent + 2 * abort_message.size());
  std::size_t got = 0;
  while (const std::size_t part = reader.tryReceive(std::span(read).subspan(got))) got += part;
  ASSERT_EQ(got, sent + abort_message.size());
  EXPECT_TRUE(std::equal(abort_message.begin(), abort_message.end(),
                         read.begin() + static_cast<std::ptrdiff_t>(sent)));
}

TEST(ShmGroup, GivesEveryRankAnAddressOfItsOwn) {
  TestSegment segment;
  const std::array<int, 3> ranks{4, 0, 2};
  const auto group = ShmGroup::create(segment.view(), 5, ranks).value();
  EXPECT_NE(group->address(4), group->address(0));
  EXPECT_NE(group->address(0), group->address(2));
  EXPECT_LT(group->address(4).size(), 64U);
}

TEST(ShmGroup, RefusesAnAddressThatIsNone) {
  TestSegment segment;
  const std::array<int, 1> ranks{0};
  const auto group = ShmGroup::create(segment.view(), 2, ranks).value();
  for (const char* address : {"", "4096", "4096 x", "1 2 3", "-4096 0", "4096 99999999999999"}) {
    EXPECT_FALSE(group->connect(std::vector<std::string>{group->address(0), address}).ok()) << address;
  }
}

// `left` bytes of the segment are still free.
pop::Result<std::unique_ptr<ShmGroup>> createWith(std::size_t left, int ranks) {
  TestSegment segment;
  segment.view().header()->next_free = segment.view().bytes - left;
  const std::array<int, 1> local{0};
  return ShmGroup::create(segment.view(), ranks, local);
}

TEST(ShmGroup, SaysWhenTheSegmentIsFull) {
  EXPECT_TRUE(createWith(std::size_t{8} << 20, 2).ok());
  for (const std::size_t left : {std::size_t{0}, std::size_t{4096}, std::size_t{64} << 10}) {
    const auto group = createWith(left, 2);
    EXPECT_EQ(group.code(), pop::Code::kResourceExhausted) << left;
    EXPECT_THAT(group.status().message(), HasSubstr("segment is full"));
  }
}

TEST(ShmGroup, OfManyRanksTakesLittleForEachPair) {
  TestSegment segment;
  const std::size_t before = segment.view().header()->next_free;
  const std::array<int, 1> local{0};
  ASSERT_TRUE(ShmGroup::create(segment.view(), 512, local).ok());
  EXPECT_LT(segment.view().header()->next_free - before, std::size_t{6} << 20);
}

}  // namespace
}  // namespace popdist::transport
