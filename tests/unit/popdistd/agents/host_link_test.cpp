// SPDX-License-Identifier: Apache-2.0
#include "popdistd/agents/host_link.h"

#include <gtest/gtest.h>

#include "common/sys/unix_socket.h"
#include "common/wire/stream_call.h"
#include "tests/testing/fake_output.h"
#include "tests/testing/run_until.h"

namespace pop {
namespace {

class HostLinkTest : public ::testing::Test {
 protected:
  HostLinkTest() {
    auto [here, there] = sys::socketPair().value();
    EXPECT_TRUE(sys::setNonBlocking(here.get()).ok());
    far_end = std::move(there);
    link = std::make_unique<HostLink>(loop, wire::callOver(loop, std::move(here)), agent, [] {});
    agent.describe(0, {}, [this](const Result<HostFacts>& facts) { described = facts.status(); });
    link->hello({}, std::chrono::hours(1));
  }

  std::string whyNotDescribed() {
    testing::runUntil(loop, [this] { return !described.ok(); });
    return described.message();
  }

  os::EpollLoop loop;
  testing::FakeOutput output;
  RemoteAgent agent{loop, output};
  sys::Fd far_end;
  std::unique_ptr<HostLink> link;
  Status described;
};

TEST_F(HostLinkTest, ThatBreaksBeforeItIsUpSaysWhatIsKnownOfItsStream) {
  link->brokenBy("the popdist-agent there ended with exit code 125");
  far_end.reset();
  EXPECT_EQ(whyNotDescribed(), "the popdist-agent there ended with exit code 125");
}

}  // namespace
}  // namespace pop
