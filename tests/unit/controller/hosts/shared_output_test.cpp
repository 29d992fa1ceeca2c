// SPDX-License-Identifier: Apache-2.0
#include "controller/hosts/shared_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/fake_output.h"

namespace pop {
namespace {

using ::testing::ElementsAre;

TEST(SharedOutput, CarriesWhatEachAgentWrites) {
  testing::FakeOutput screen;
  SharedOutput shared(screen);
  OutputSink& first = shared.add();
  OutputSink& second = shared.add();
  EXPECT_TRUE(first.write(0, Stream::kStdout, "a"));
  EXPECT_TRUE(second.write(1, Stream::kStderr, "b"));
  EXPECT_THAT(screen.lines, ElementsAre("0 out: a", "1 err: b"));
}

TEST(SharedOutput, TellsExactlyThoseWhoWait) {
  testing::FakeOutput screen;
  SharedOutput shared(screen);
  std::vector<OutputSink*> agents{&shared.add(), &shared.add(), &shared.add()};
  std::vector<int> ready(3);
  for (std::size_t agent = 0; agent < 3; ++agent)
    agents[agent]->setOnReady([&ready, agent] { ++ready[agent]; });
  screen.full = true;
  EXPECT_FALSE(agents[0]->write(0, Stream::kStdout, "x"));
  EXPECT_FALSE(agents[2]->write(2, Stream::kStdout, "x"));
  screen.drain();
  EXPECT_THAT(ready, ElementsAre(1, 0, 1));
  screen.drain();
  EXPECT_THAT(ready, ElementsAre(1, 0, 1));
}

TEST(SharedOutput, SparesAnAgentThatIsGone) {
  testing::FakeOutput screen;
  SharedOutput shared(screen);
  OutputSink& agent = shared.add();
  agent.setOnReady([] { FAIL(); });
  screen.full = true;
  EXPECT_FALSE(agent.write(0, Stream::kStdout, "x"));
  agent.setOnReady(nullptr);
  screen.drain();
}

}  // namespace
}  // namespace pop
