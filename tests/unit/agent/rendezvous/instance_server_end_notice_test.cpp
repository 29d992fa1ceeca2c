// SPDX-License-Identifier: Apache-2.0
// News to instances of another one's end: in a fence at once, and in the segment for all other waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/contract/segment.h"
#include "common/sys/memfd.h"
#include "tests/unit/agent/rendezvous/instance_server_fixture.h"

namespace pop::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using InstanceServerEndNotice = InstanceServerTest;

const std::string kUnavailable = std::to_string(static_cast<int>(Code::kUnavailable));
const EndNotice kDeath{.instance = 3, .text = "instance 3 (pid 712) was killed by SIGKILL"};

// The segment's control block in an instance's mapping.
class ControlBlock {
 public:
  explicit ControlBlock(const testing::InstanceClient& client)
      : mapping_(sys::mapShared(client.fds().at(0).get(), contract::kPieceAlignmentBytes).value()),
        header_(reinterpret_cast<contract::SegmentHeader*>(mapping_.data())) {}

  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (std::uint32_t i = 0; i < header_->end_notice_count.load(); ++i) {
      texts.emplace_back(contract::endNoticesOf(header_)[i].text);
    }
    return texts;
  }
  const contract::EndNotice& at(int index) const { return contract::endNoticesOf(header_)[index]; }

 private:
  sys::Mapping mapping_;
  contract::SegmentHeader* header_;
};

TEST_F(InstanceServerEndNotice, EndsTheFenceOfAllWhoWaitInIt) {
  const auto clients = allInstances();
  clients[0]->enterFence();
  clients[2]->enterFence();
  testing::runUntil(loop, [rounds = 0]() mutable { return ++rounds > 5; });
  server->announce(kDeath);
  EXPECT_THAT(clients[0]->expect(Message::kError), ElementsAre(kUnavailable, "3", kDeath.text));
  EXPECT_THAT(clients[2]->expect(Message::kError), ElementsAre(kUnavailable, "3", kDeath.text));
  EXPECT_EQ(clients[1]->get("key"), std::nullopt) << "who does not wait is not told here";
}

TEST_F(InstanceServerEndNotice, EndsEveryLaterFenceWithTheFirstDeath) {
  const auto clients = allInstances();
  server->announce(kDeath);
  server->announce({.instance = 1, .text = "instance 1 exited with code 1"});
  clients[0]->enterFence();
  EXPECT_THAT(clients[0]->expect(Message::kError), ElementsAre(kUnavailable, "3", kDeath.text));
  EXPECT_THAT(fences, IsEmpty());
}

TEST_F(InstanceServerEndNotice, IsPublishedInTheSegmentAtOnce) {
  const auto client = instance(0);
  const ControlBlock control_block(*client);
  EXPECT_THAT(control_block.texts(), IsEmpty());
  server->announce(kDeath);
  EXPECT_THAT(control_block.texts(), ElementsAre(kDeath.text));
  EXPECT_EQ(control_block.at(0).instance, 3);
  EXPECT_EQ(control_block.at(0).clean, 0U);
  server->announce({.instance = 1, .clean = true, .text = "instance 1 exited with code 0"});
  EXPECT_THAT(control_block.texts(), ElementsAre(kDeath.text, "instance 1 exited with code 0"));
  EXPECT_EQ(control_block.at(1).clean, 1U);
}

TEST_F(InstanceServerEndNotice, AwaitsThoseWhoConnectLater) {
  server->announce(kDeath);
  server->announce({.instance = 2, .text = "instance 2 exited with code 1"});
  const auto client = instance(0);
  EXPECT_THAT(ControlBlock(*client).texts(), ElementsAre(kDeath.text, "instance 2 exited with code 1"));
}

TEST_F(InstanceServerEndNotice, LeavesNoTimeoutBehind) {
  const auto clients = allInstances();
  clients[0]->enterFence(20);
  testing::runUntil(loop, [rounds = 0]() mutable { return ++rounds > 5; });
  server->announce(kDeath);
  clients[0]->expect(Message::kError);
  bool past_the_deadline = false;
  loop.postAfter(std::chrono::milliseconds(30), [&] { past_the_deadline = true; });
  testing::runUntil(loop, [&] { return past_the_deadline; });
  EXPECT_EQ(clients[0]->get("key"), std::nullopt) << "one error for one fence";
}

}  // namespace
}  // namespace pop::agent
