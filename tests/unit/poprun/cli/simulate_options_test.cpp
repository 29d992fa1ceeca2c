// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/simulate_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "poprun/cli/options_doc.h"
#include "tests/testing/golden.h"

namespace pop::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SimulateOptions, AreReadInBothSpellings) {
  const ParsedSimulation parsed = parseSimulateOptions(
      {"--model", "a.model", "--fit=runs.csv", "--hold-out=pod16,pod64", "--system", "pod256",
       "--num-replicas", "8", "--micro-batch=3", "--global-batch=6144", "--export-model", "b", "--json"});
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  const SimulateOptions& options = parsed.options;
  EXPECT_EQ(options.model, "a.model");
  EXPECT_EQ(options.fit, "runs.csv");
  EXPECT_THAT(options.hold_out, ElementsAre("pod16", "pod64"));
  EXPECT_THAT(options.systems, ElementsAre("pod256"));
  EXPECT_EQ(options.replicas, 8);
  EXPECT_EQ(options.micro_batch, 3);
  EXPECT_EQ(options.global_batch, 6144);
  EXPECT_FALSE(options.gradient_accumulation.has_value());
  EXPECT_EQ(options.export_model, "b");
  EXPECT_EQ(options.form, SimulateForm::kJson);
}

TEST(SimulateOptions, MistakesNameTheOptionAndWhatToDo) {
  const auto mistakesOf = [](const std::vector<std::string>& words) {
    return parseSimulateOptions(words).mistakes;
  };
  EXPECT_THAT(mistakesOf({}), ElementsAre(HasSubstr("needs a model of the training: --model FILE")));
  EXPECT_THAT(mistakesOf({"--modl", "x", "y"}),
              ElementsAre("simulate has no option --modl: did you mean --model?",
                          "simulate starts no program: leave out 'y'"));
  EXPECT_THAT(mistakesOf({"--model"}), ElementsAre("--model needs a value: --model FILE"));
  EXPECT_THAT(mistakesOf({"--json=yes"}), ElementsAre("--json takes no value"));
  EXPECT_THAT(mistakesOf({"--micro-batch", "0"}),
              ElementsAre("--micro-batch: '0' is no whole number from 1 to 1000000000"));
  EXPECT_THAT(mistakesOf({"--system", "pod63"}), ElementsAre(HasSubstr("no Pod is called 'pod63'")));
  EXPECT_THAT(mistakesOf({"--model", "a", "--hold-out", "pod16"}), ElementsAre(HasSubstr("add --fit TABLE")));
  EXPECT_THAT(mistakesOf({"--model", "a", "--export-model", "b"}), ElementsAre(HasSubstr("add --fit TABLE")));
  EXPECT_THAT(mistakesOf({"--model", "a", "--global-batch", "8", "--gradient-accumulation", "2"}),
              ElementsAre(HasSubstr("leave out --gradient-accumulation")));
  EXPECT_THAT(mistakesOf({"--all-reduce", "1MB"}), ElementsAre(HasSubstr("add --system POD")));
  EXPECT_THAT(mistakesOf({"--all-reduce", "1MB", "--system", "pod4", "--model", "a", "--svg"}),
              ElementsAre("--all-reduce simulates no training: leave out --model",
                          "--all-reduce simulates no training: leave out --svg"));
  EXPECT_THAT(mistakesOf({"--model", "a", "--show-steps"}),
              ElementsAre("--show-steps is for --all-reduce: add --all-reduce SIZE"));
  EXPECT_THAT(
      mistakesOf({"--collective", "gather=1MB", "--system", "pod4"}),
      ElementsAre(HasSubstr("--collective: there is no collective 'gather': all-reduce, reduce-scatter, ")));
  EXPECT_THAT(mistakesOf({"--collective", "all-gather", "--system", "pod4"}),
              ElementsAre(HasSubstr("has no size: use one such as all-gather=64MiB")));
  EXPECT_THAT(mistakesOf({"--group", "1:2:3", "--all-reduce", "1MB", "--system", "pod4"}),
              ElementsAre("--group: '1:2:3' is no group: use one such as 8 or 8:2"));
  EXPECT_THAT(mistakesOf({"--group", "2", "--model", "a"}),
              ElementsAre("--group is for --all-reduce: add --all-reduce SIZE"));
  EXPECT_THAT(mistakesOf({"--within-replica", "--model", "a"}),
              ElementsAre("--within-replica is for --all-reduce: add --all-reduce SIZE"));
  EXPECT_THAT(
      mistakesOf({"--within-replica", "--all-reduce", "1MB", "--system", "pod4"}),
      ElementsAre("--within-replica: a replica of 1 IPU exchanges nothing: add --ipus-per-replica N"));
  EXPECT_THAT(mistakesOf({"--within-replica", "--ipus-per-replica", "2", "--all-reduce", "1MB", "--system",
                          "pod4", "--export-chakra", "a"}),
              ElementsAre("--export-chakra writes an all-reduce of all replicas, or a step of a training"));
  EXPECT_THAT(mistakesOf({"--collective", "broadcast=1MB", "--system", "pod4", "--export-chakra", "a"}),
              ElementsAre("--export-chakra writes an all-reduce of all replicas, or a step of a training"));
  EXPECT_THAT(mistakesOf({"--all-reduce", "1MB", "--system", "./a.system,pod4"}), IsEmpty());
  EXPECT_THAT(mistakesOf({"--replay", "w", "--system", "pod4,pod16", "--ipus-per-replica", "2"}), IsEmpty());
  EXPECT_THAT(mistakesOf({"--replay", "w", "--model", "a", "--trace", "t"}),
              ElementsAre("--replay simulates no training: leave out --model",
                          "--replay needs a Pod: add --system POD",
                          "--trace is for --all-reduce: add --all-reduce SIZE"));
  EXPECT_THAT(
      mistakesOf({"--replay", "w", "--system", "pod4", "--algorithm", "split", "--slow-ipu", "ipu0=0.5"}),
      ElementsAre(HasSubstr("a replay takes gcl or quickest"), HasSubstr("as the traces say")));
  EXPECT_THAT(mistakesOf({"--replay", "w", "--system", "pod4", "--all-reduce", "1MB"}),
              ElementsAre("--replay has its own collectives: leave out --all-reduce"));
  EXPECT_THAT(mistakesOf({"--model", "a", "--export-chakra", "w"}),
              ElementsAre(HasSubstr("--export-chakra writes one Pod's traces")));
  EXPECT_THAT(mistakesOf({"--model", "a", "--algorithm", "split"}),
              ElementsAre(HasSubstr("takes gcl or quickest")));
  EXPECT_THAT(mistakesOf({"--model", "a", "--remove-link", "ipu0"}),
              ElementsAre(HasSubstr("'ipu0' is no link")));
  EXPECT_THAT(mistakesOf({"--model", "a", "--slow-ipu", "ipu0=x"}),
              ElementsAre(HasSubstr("'x' is not a number")));
  EXPECT_THAT(mistakesOf({"--model", "a", "--topology", "star"}), ElementsAre(HasSubstr("use mesh, torus")));
  EXPECT_THAT(mistakesOf({"--show-system"}), ElementsAre(HasSubstr("add --system POD")));
  EXPECT_THAT(mistakesOf({"--help"}), IsEmpty());
}

TEST(SimulateOptions, HelpIsAsTheTableIsAndFitsATerminal) {
  EXPECT_EQ(simulateHelpText(), testing::golden("simulate_help.txt")) << "run scripts/gen_options_doc";
  std::istringstream lines(simulateHelpText());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 102U) << line;
  for (const OptionRow& row : simulateTable())
    EXPECT_THAT(bashCompletion(), HasSubstr(std::string(row.name)));
}

}  // namespace
}  // namespace pop::cli
