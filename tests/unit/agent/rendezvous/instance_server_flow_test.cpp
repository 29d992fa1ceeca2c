// SPDX-License-Identifier: Apache-2.0
// The server's memory for an instance that asks and does not read the answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/contract/segment.h"
#include "common/sys/memfd.h"
#include "tests/unit/agent/rendezvous/instance_server_fixture.h"

namespace pop::agent {
namespace {

class InstanceServerFlow : public InstanceServerTest {
 protected:
  InstanceServerFlow() {
    clients.front()->put("key", value);
    for (const auto& client : clients) client->enterFence();
    testing::runUntil(loop, [this] { return !fences.empty(); });
    server->releaseFence(fences.front());
    for (const auto& client : clients) client->expect(Message::kFenceReleased);
  }

  /// Asks for the value, over and over, until the server takes no more questions; how many it was asked.
  int askInVain(Client& client) {
    const std::string question =
        contract::encode({static_cast<std::uint8_t>(Message::kGet), {"key"}}).value();
    int asked = 0;
    int turned_away = 0;
    while (asked < kTooMany && turned_away < 3) {
      if (client.offerBytes(question) == question.size()) {
        ++asked;
        turned_away = 0;
      } else {
        ++turned_away;
        testing::runIdle(loop);
      }
    }
    return asked;
  }

  static constexpr int kTooMany = 20'000;
  const std::string value = std::string(10'000, 'x');
  std::vector<std::unique_ptr<Client>> clients = allInstances();
};

TEST_F(InstanceServerFlow, TakesNoMoreQuestionsFromWhoDoesNotReadTheAnswers) {
  EXPECT_LT(askInVain(*clients[0]), kTooMany);
  EXPECT_TRUE(clients[1]->get("key") == value) << "the others are served";
}

TEST_F(InstanceServerFlow, AnswersAllOfThemOnceTheyAreRead) {
  const int asked = askInVain(*clients[0]);
  for (int each = 0; each < asked; ++each)
    ASSERT_TRUE(clients[0]->expect(Message::kValue)[1] == value) << each;
  EXPECT_TRUE(clients[0]->get("key") == value) << "and the next ones";
}

TEST_F(InstanceServerFlow, NoticesThatOneThatDoesNotReadIsGone) {
  askInVain(*clients[0]);
  clients[0].reset();
  testing::runIdle(loop);
  clients[0] = instance(0);
  EXPECT_TRUE(clients[0]->get("key") == value);
}

// Through its slot it could ask without sending anything.
TEST_F(InstanceServerFlow, LetsNobodyIntoAFenceThroughItsSlotWhoDoesNotReadTheAnswers) {
  askInVain(*clients[0]);
  const sys::Mapping mapping =
      sys::mapShared(clients[0]->fds().at(0).get(), contract::controlBlockBytesFor(4)).value();
  auto* const header = reinterpret_cast<contract::SegmentHeader*>(mapping.data());
  contract::enterSlot(contract::fenceSlotsOf(header, 4)[0], 1, "another call", false);
  clients[1]->enterFence();
  EXPECT_TRUE(clients[1]->get("key") == value) << "nothing was said of another call";
}

}  // namespace
}  // namespace pop::agent
