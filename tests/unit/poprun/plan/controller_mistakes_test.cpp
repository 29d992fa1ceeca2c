// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/controller_mistakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poprun/plan/detached_mistakes.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Options onController() {
  Options options;
  options.programs.front().command = {"./train"};
  options.controller.server = "head:8090";
  return options;
}

TEST(ControllerMistakes, AreNoneInWhatGoesTogether) {
  EXPECT_THAT(findControllerMistakes({}), IsEmpty());
  Options options = onController();
  options.controller = {"head:8090", "/tls", 3, -1, true, true};
  options.detached.name = "train";
  EXPECT_THAT(findControllerMistakes(options), IsEmpty());
  EXPECT_THAT(findDetachedMistakes(options), IsEmpty());
  options.detached.detach = true;
  EXPECT_THAT(findDetachedMistakes(options), IsEmpty());
}

TEST(ControllerMistakes, NameEachOptionThatNeedsAController) {
  Options options;
  options.controller = {"", "/tls", 3, -1, true, true};
  EXPECT_THAT(findControllerMistakes(options),
              ElementsAre(HasSubstr("--controller-tls"), HasSubstr("--num-hosts"), HasSubstr("--priority"),
                          HasSubstr("--held"), HasSubstr("--no-wait")));
}

TEST(ControllerMistakes, AreCommandsAndWaysToHosts) {
  Options options = onController();
  options.detached.attach = {"", "7"};
  EXPECT_THAT(findControllerMistakes(options), ElementsAre(HasSubstr("popctl")));
  options = onController();
  options.controller.num_hosts = 2;
  options.host = "a,b";
  EXPECT_THAT(findControllerMistakes(options), ElementsAre(HasSubstr("--num-hosts")));
  options = onController();
  options.hosts.agent_port = 7571;
  EXPECT_THAT(findControllerMistakes(options), ElementsAre(HasSubstr("--agent-port")));
  options = onController();
  options.synchronise_python_venv = true;
  EXPECT_THAT(findControllerMistakes(options), ElementsAre(HasSubstr("--synchronise")));
}

TEST(ControllerMistakes, AJobOfTheDaemonReadsNoInput) {
  Options options = onController();
  options.stdin_policy = {model::StdinPolicy::Who::kAll, 0};
  EXPECT_THAT(findDetachedMistakes(options), ElementsAre(HasSubstr("--stdin")));
}

}  // namespace
}  // namespace pop
