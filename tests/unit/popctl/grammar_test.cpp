// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "popctl/completion.h"
#include "popctl/jobs/states.h"
#include "popctl/popctl_options.h"

namespace pop::popctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Command parsed(const std::vector<std::string>& words) {
  const ParsedCommand result = parseCommand(words);
  EXPECT_TRUE(std::holds_alternative<Command>(result)) << ::testing::PrintToString(words);
  return std::holds_alternative<Command>(result) ? std::get<Command>(result) : Command();
}

int exitCode(const std::vector<std::string>& words) {
  const ParsedCommand result = parseCommand(words);
  return std::holds_alternative<int>(result) ? std::get<int>(result) : -1;
}

TEST(Grammar, CommonOptionsMayStandAnywhere) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"--server", "h:1", "--json", "get", "job", "12"},
                                             {"get", "--server", "h:1", "job", "--json", "12"},
                                             {"get", "job", "12", "--server=h:1", "--json"}}) {
    const Command command = parsed(words);
    EXPECT_EQ(command.action, Action::kGetJob);
    EXPECT_EQ(command.common.server, "h:1");
    EXPECT_TRUE(command.common.json);
    EXPECT_EQ(command.object, "12");
    EXPECT_EQ(command.words, "get job");
  }
}

TEST(Grammar, JobsMayBeNamedAsVerbs) {
  EXPECT_EQ(parsed({"get", "job", "top"}).object, "top");
  EXPECT_EQ(parsed({"cancel", "job", "list", "7"}).objects, (std::vector<std::string>{"list", "7"}));
}

TEST(Grammar, SingularAndPluralMeanTheSame) {
  EXPECT_EQ(parsed({"list", "job"}).action, Action::kListJobs);
  EXPECT_EQ(parsed({"list", "jobs"}).action, Action::kListJobs);
  EXPECT_EQ(parsed({"list", "host"}).action, Action::kListHosts);
  EXPECT_EQ(parsed({"get", "jobs", "1"}).action, Action::kGetJob);
  EXPECT_EQ(parsed({"drain", "hosts", "h", "--reason", "x"}).action, Action::kDrainHost);
}

TEST(Grammar, FiltersAndStates) {
  const Command command = parsed(
      {"list", "jobs", "--user", "a", "--state", "queued,HELD", "--name", "n", "--host", "h", "--watch"});
  EXPECT_EQ(command.filter.user, "a");
  EXPECT_THAT(command.filter.states, ElementsAre(v1::JOB_QUEUED, v1::JOB_HELD));
  EXPECT_EQ(command.filter.name, "n");
  EXPECT_EQ(command.filter.host, "h");
  EXPECT_TRUE(command.watch);
}

TEST(Grammar, OutputOptionsOfPoprunFollowTheJob) {
  const Command command = parsed({"attach", "job", "12", "--control", "--tag-output", "no", "-v"});
  EXPECT_TRUE(command.control);
  EXPECT_EQ(command.object, "12");
  EXPECT_THAT(command.rest, ElementsAre("--tag-output", "no", "-v"));
}

TEST(Grammar, SubmitLeavesPoprunsOptionsAndTheProgramAlone) {
  const Command command = parsed({"submit", "job", "--held", "--hosts", "2", "-np", "4", "--timeout", "3",
                                  "./train", "--held", "--", "--name", "x"});
  EXPECT_EQ(command.action, Action::kSubmitJob);
  EXPECT_TRUE(command.submit.held);
  EXPECT_EQ(command.submit.num_hosts, 2);
  EXPECT_FALSE(command.common.timeout_s.has_value());
  EXPECT_THAT(command.rest,
              ElementsAre("-np", "4", "--timeout", "3", "./train", "--held", "--", "--name", "x"));
  EXPECT_EQ(parsed({"--server", "h", "submit", "jobs", "./x"}).common.server, "h");
}

TEST(Grammar, SubmitsOptionsAndPoprunsAreInAnyOrder) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"submit", "job", "--attach", "-np", "2", "--", "true", "--wait"},
           {"submit", "job", "-np", "2", "--attach", "--", "true", "--wait"},
           {"submit", "--attach", "job", "-np", "2", "--", "true", "--wait"},
           {"submit", "-np", "2", "job", "--attach", "--", "true", "--wait"}}) {
    const Command command = parsed(words);
    EXPECT_TRUE(command.submit.attach);
    EXPECT_FALSE(command.submit.wait);
    EXPECT_THAT(command.rest, ElementsAre("-np", "2", "--", "true", "--wait"));
  }
  const Command all = parsed({"submit",
                              "job",
                              "--num-instances=4",
                              "--name",
                              "n",
                              "--tag-output",
                              "--server=h:1",
                              "-v",
                              "--json",
                              "-x",
                              "A=1",
                              "--priority",
                              "-5",
                              "--bind-to",
                              "core",
                              "--quiet",
                              "--mca",
                              "a",
                              "b",
                              "--hosts=2",
                              "train",
                              "--name",
                              "x"});
  EXPECT_EQ(all.submit.name, "n");
  EXPECT_EQ(all.submit.priority, -5);
  EXPECT_EQ(all.submit.num_hosts, 2);
  EXPECT_EQ(all.common.server, "h:1");
  EXPECT_TRUE(all.common.json && all.common.quiet);
  EXPECT_THAT(all.rest, ElementsAre("--num-instances=4", "--tag-output", "-v", "-x", "A=1", "--bind-to",
                                    "core", "--mca", "a", "b", "train", "--name", "x"));
}

TEST(Grammar, EmptyValuesAreUsageErrors) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"submit", "job", "--name", "", "--", "x"},
                                             {"submit", "job", "--name=", "x"},
                                             {"submit", "job", "-np", "1", "--allocation", "", "x"},
                                             {"--server", "", "list", "jobs"},
                                             {"list", "jobs", "--name", ""},
                                             {"list", "jobs", "--user="},
                                             {"get", "job", ""},
                                             {"drain", "host", "h", "--reason", ""}})
    EXPECT_EQ(exitCode(words), 2) << ::testing::PrintToString(words);
}

TEST(Grammar, MistakesAreUsageErrors) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{},
                                             {"jump"},
                                             {"list"},
                                             {"get", "job"},
                                             {"get", "job", "1", "2"},
                                             {"get", "job", "1", "--odd"},
                                             {"drain", "host", "h"},
                                             {"signal", "job", "1"},
                                             {"submit"},
                                             {"submit", "host"},
                                             {"submit", "job"},
                                             {"submit", "job", "--wait", "--attach", "x"},
                                             {"submit", "job", "--name", "--attach", "--", "x"},
                                             {"submit", "job", "--allocation", "-np", "2", "x"},
                                             {"--json", "attach", "job", "1"},
                                             {"list", "jobs", "--limit", "-1"}})
    EXPECT_EQ(exitCode(words), 2) << ::testing::PrintToString(words);
}

TEST(Grammar, NamesTheCommandThatWasMeant) {
  const auto words = [](const std::vector<std::string>& arguments) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(exitCode(arguments), 2);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(words({"cancle", "job", "1"}), HasSubstr("did you mean 'cancel'?"));
  EXPECT_THAT(words({"cancel", "jbo", "1"}), HasSubstr("one of job"));
  EXPECT_THAT(words({"frobnicate", "job"}), HasSubstr("one of"));
}

TEST(Grammar, HelpIsNoMistake) {
  EXPECT_EQ(exitCode({"--help"}), 0);
  EXPECT_EQ(exitCode({"list", "--help"}), 0);
  EXPECT_EQ(exitCode({"list", "jobs", "--help"}), 0);
  EXPECT_EQ(exitCode({"submit", "job", "--help"}), 0);
}

TEST(Words, OfSignalsAndJobs) {
  EXPECT_EQ(parseSignal("TERM").value(), 15);
  EXPECT_EQ(parseSignal("SIGKILL").value(), 9);
  EXPECT_EQ(parseSignal("64").value(), 64);
  for (const char* odd : {"", "0", "65", "SIG", "-9"}) EXPECT_FALSE(parseSignal(odd).ok()) << odd;
  EXPECT_EQ(parseJob("12").value().id(), 12);
  EXPECT_EQ(parseJob("a-1").value().name(), "a-1");
  for (const char* odd : {"", "0", "a b", "99999999999999999999"}) EXPECT_FALSE(parseJob(odd).ok()) << odd;
}

TEST(Completion, HasEachVerbInEachShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string text = completionFor(shell);
    for (const CommandWords& command : commandWords()) EXPECT_THAT(text, HasSubstr(command.verb)) << shell;
    EXPECT_THAT(text, HasSubstr("since-sequence"));
  }
  EXPECT_THAT(completionFor("csh"), IsEmpty());
}

}  // namespace
}  // namespace pop::popctl
