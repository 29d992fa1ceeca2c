// SPDX-License-Identifier: Apache-2.0
// Command lines that are wrong: every mistake is named, and none hides another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "poprun/cli/parse.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using Arguments = std::vector<std::string>;

std::vector<std::string> mistakesIn(const Arguments& arguments) {
  return cli::parseOptions(arguments).mistakes;
}

TEST(ParseOptionsMistakes, UnknownOptionsAreNamed) {
  EXPECT_THAT(
      mistakesIn({"--nmu-instances=2", "x"}),
      ElementsAre(
          "--nmu-instances: no such option; did you mean --num-instances? (`poprun --help` lists them; a "
          "program's own options follow its name)"));
  for (const char* unknown :
       {"-Hhost", "-vvv", "--HOST", "-y", "--num-instance", "--=2", "---host", "--a b"}) {
    EXPECT_THAT(mistakesIn({unknown, "x"}), ElementsAre(HasSubstr("no such option"))) << unknown;
  }
}

TEST(ParseOptionsMistakes, AnUnknownOptionDoesNotHideTheRest) {
  const cli::ParsedOptions parsed = cli::parseOptions({"--bogus", "--num-instances=2", "./train"});
  EXPECT_EQ(parsed.options.programs.front().num_instances, 2);
  EXPECT_THAT(parsed.options.programs.front().command, ElementsAre("./train"));
}

TEST(ParseOptionsMistakes, TheValueOfAnUnknownOptionHidesNothingEither) {
  EXPECT_THAT(
      mistakesIn({"--nunm-instances", "2", "--process-placement", "foo", "-np", "x", "./a"}),
      UnorderedElementsAre(StartsWith("--nunm-instances: no such option; did you mean"),
                           StartsWith("--process-placement: 'foo'"), StartsWith("--num-instances: 'x'")));
  EXPECT_THAT(mistakesIn({"--bogus", "2", "--other=1", "./a"}), ElementsAre(StartsWith("--bogus:")))
      << "what is no option of ours may be the program's";
  for (const Arguments& words : {Arguments{"--bogus", "2", "--", "./a"},
                                 {"--bogus", "./a"},
                                 {"--bogus", "./a", "x"},
                                 {"--bogus", "./a", "--rate", "0.1"},
                                 {"--bogus=2", "./a", "-v"},
                                 {"--bogus", ":", "-np", "1", "./a"}}) {
    const cli::ParsedOptions parsed = cli::parseOptions(words);
    EXPECT_EQ(parsed.mistakes.size(), 1U);
    EXPECT_EQ(parsed.options.programs.back().command.front(), "./a");
  }
}

TEST(ParseOptionsMistakes, AValueMustFollow) {
  EXPECT_THAT(mistakesIn({"--num-instances"}), ElementsAre("--num-instances: needs a value"));
  EXPECT_THAT(mistakesIn({"-v", "-H"}), ElementsAre("-H: needs a value"));
}

TEST(ParseOptionsMistakes, AnEmptyTextIsNoValueAndSwallowsNothing) {
  for (const char* option : {"--host", "--hostfile", "--system", "--wdir", "--output-filename",
                             "--executable-cache-path", "--export-config", "--vipu-partition"}) {
    const std::string name = option;
    for (const Arguments& words :
         {Arguments{name + '=', "--num-instances=2", "x"}, Arguments{name, "", "--num-instances=2", "x"}}) {
      const cli::ParsedOptions parsed = cli::parseOptions(words);
      EXPECT_THAT(parsed.mistakes,
                  ElementsAre(name + ": '' is empty: give a value, or leave the option out"));
      EXPECT_EQ(parsed.options.programs.front().num_instances, 2) << name;
    }
  }
}

TEST(ParseOptionsMistakes, FlagsTakeNoValue) {
  EXPECT_THAT(mistakesIn({"--help=x", "-v=2", "x"}),
              ElementsAre("--help: takes no value", "-v: takes no value"));
}

TEST(ParseOptionsMistakes, NumbersMustBeNumbers) {
  for (const char* option :
       {"--num-instances", "--num-replicas", "--ipus-per-replica", "--only-output-from-instance"}) {
    const std::string name = option;
    EXPECT_THAT(mistakesIn({name, "two", "x"}), ElementsAre(name + ": 'two' is not a whole number"));
    EXPECT_THAT(mistakesIn({name + "=4x", "x"}), ElementsAre(name + ": '4x' is not a whole number"));
    EXPECT_THAT(mistakesIn({name + "=", "x"}), ElementsAre(name + ": '' is not a whole number"));
    EXPECT_THAT(mistakesIn({name + "=2147483648", "x"}), ElementsAre(name + ": '2147483648' is too large"));
    EXPECT_THAT(mistakesIn({name + "=99999999999999999999", "x"}), ElementsAre(HasSubstr("is too large")));
  }
}

TEST(ParseOptionsMistakes, BooleansMustBeBooleans) {
  EXPECT_THAT(mistakesIn({"--offline-mode", "perhaps", "x"}), IsEmpty()) << "'perhaps' is the program then";
  EXPECT_THAT(mistakesIn({"--offline-mode=perhaps", "x"}),
              ElementsAre("--offline-mode: 'perhaps' is not a boolean (yes/no, on/off, true/false or 1/0)"));
  EXPECT_THAT(mistakesIn({"--tag-output=rank", "x"}),
              ElementsAre("--tag-output: 'rank' is not auto, no, instance, host, mpi or yes"));
}

TEST(ParseOptionsMistakes, ValuesWithAGrammarAreChecked) {
  const auto mistakeIn = [](const std::string& word) {
    const std::vector<std::string> mistakes = mistakesIn({word, "x"});
    return mistakes.size() == 1 ? mistakes.front() : "not one mistake";
  };
  EXPECT_EQ(
      mistakeIn("--process-placement=fast"),
      "--process-placement: 'fast' is not spreadnuma, spreadcores, compact, disabled or CPU lists such as "
      "0-3:4-7");
  EXPECT_THAT(mistakeIn("--process-placement=0-3:"), HasSubstr("'0-3:' is not spreadnuma"));
  EXPECT_EQ(mistakeIn("--host-subnet=10.1.0.0"),
            "--host-subnet: '10.1.0.0' is not a network such as 10.1.0.0/16, or interfaces such as eth0");
  for (const char* wrong : {"10.1.0.0/33", "10.1/16", "x/8", "fe80::/129", "/8", "", "eth0,", "eth 0",
                            "a23456789012345x", "fe80::1"}) {
    EXPECT_THAT(mistakeIn(std::string("--host-subnet=") + wrong), HasSubstr("is not a network")) << wrong;
  }
  for (const char* wrong : {"", "x", "5 s", "1e3", "5w", "nan", "inf", ".", "-"}) {
    EXPECT_THAT(mistakeIn(std::string("--timeout=") + wrong), HasSubstr("is not a time")) << wrong;
  }
  EXPECT_EQ(mistakeIn("--timeout=-1"), "--timeout: '-1': must not be negative");
  EXPECT_EQ(mistakeIn("--rsh=\"x"), "--rsh: '\"x' has an open quote (\")");
  EXPECT_EQ(mistakeIn("--timeout=0.4ms"), "--timeout: '0.4ms' is less than a millisecond");
  EXPECT_EQ(mistakeIn("--connect-timeout=0"), "--connect-timeout: '0': must be greater than 0");
  EXPECT_EQ(mistakeIn("--connect-timeout=30d"), "--connect-timeout: '30d' is more than a day");
  EXPECT_EQ(mistakeIn("--host-silence=50d"), "--host-silence: '50d' is more than a day");
  EXPECT_EQ(mistakeIn("--host-silence=1.999"),
            "--host-silence: '1.999': must be at least 2 s, because hosts send a heartbeat every second");
  EXPECT_EQ(mistakeIn("--kill-grace=999999999999d"), "--kill-grace: '999999999999d' is too large");
  EXPECT_EQ(mistakeIn("--restart-delay=-0.5"), "--restart-delay: '-0.5': must not be negative");
  EXPECT_EQ(mistakeIn("--max-restarts=-1"), "--max-restarts: '-1': must be at least 0");
  EXPECT_EQ(mistakeIn("--vipu-server-port=65536"), "--vipu-server-port: '65536': must be at most 65535");
  EXPECT_EQ(mistakeIn("--stdin=some"), "--stdin: 'some' is not none, all or the number of an instance");
  EXPECT_EQ(mistakeIn("--stdin=-1"), "--stdin: '-1' is not none, all or the number of an instance");
  EXPECT_EQ(mistakeIn("--tf-config-tasks=ps"), "--tf-config-tasks: 'ps' is not chief, evaluator or workers");
  EXPECT_THAT(mistakeIn("--env-for=mxnet"), HasSubstr("--env-for: 'mxnet' is not one of"));
  EXPECT_THAT(mistakeIn("--env-for=all,slurm"), HasSubstr("--env-for: 'all' must be the only word"));
  EXPECT_THAT(mistakeIn("--env-for=slurm,none"), HasSubstr("--env-for: 'none' must be the only word"));
  EXPECT_THAT(mistakeIn("--collectives=fast"),
              HasSubstr("--collectives: 'fast' is not one of eager, staged"));
  EXPECT_EQ(mistakeIn("--collectives=pull,eager"), "--collectives: 'pull' and 'eager' exclude each other");
  EXPECT_EQ(mistakeIn("--collectives=tcp,tcp"), "--collectives: 'tcp' is there twice");
  EXPECT_THAT(mistakeIn("--sync-type=ST_X"),
              HasSubstr("'ST_X' is not ST_GS2_DEFAULT, ST_GS2_INDEPENDENT_RAILS"));
  EXPECT_EQ(mistakeIn("--version-format=xml"), "--version-format: 'xml' is not text, full-text or full-json");
  EXPECT_EQ(mistakeIn("--dry-run=xml"), "--dry-run: 'xml' is not no, text or json");
  EXPECT_EQ(mistakeIn("--on-hangup=go"), "--on-hangup: 'go' is not stop or detach");
  EXPECT_EQ(mistakeIn("--log-limit=7M"), "--log-limit: '7M': must be at least 8M");
  EXPECT_EQ(mistakeIn("--log-limit=1025G"), "--log-limit: '1025G': must be at most 1024G");
  for (const char* wrong : {"", "64", "M", "-8M", "8T", "1.5G", "99999999999999999999G", "9000000000000000G"})
    EXPECT_THAT(mistakeIn(std::string("--log-limit=") + wrong), HasSubstr(" is not a size: write 64M or 2G"));
  for (const std::string& wrong : Arguments{"17", "a b", "", "h:a", std::string(65, 'a')})
    EXPECT_THAT(mistakeIn("--name=" + wrong), HasSubstr(" is not a name: write letters, digits,")) << wrong;
  for (const char* wrong :
       {"", "0", "07", "a b", "h1:", ":7", "-oProxyCommand=x:7", "9999999999", "a\nb:7"}) {
    for (const char* option : {"--attach=", "--logs=", "--cancel="})
      EXPECT_THAT(mistakeIn(option + std::string(wrong)),
                  HasSubstr(" is not the number or name of a job, or HOST:ID"))
          << wrong;
  }
  EXPECT_EQ(mistakeIn("--jobs=h1"), "--jobs: 'h1' is not a host: write HOST:, with the colon");
  EXPECT_EQ(mistakeIn("--jobs=-h:"), "--jobs: '-h:' is not a host: write HOST:, with the colon");
  EXPECT_THAT(mistakeIn("-x=A"), "not one mistake") << "a value after '=' as everywhere";
  EXPECT_EQ(mistakeIn("-x==v"), "-x: '=v' has no name: write NAME=value, or NAME to forward poprun's own");
}

TEST(ParseOptionsMistakes, SomeOptionsExcludeEachOther) {
  EXPECT_THAT(mistakesIn({"--host", "a", "--hostfile", "f", "x"}),
              ElementsAre("--host and --hostfile exclude each other: give only one"));
  EXPECT_THAT(
      mistakesIn({"--only-stdout-from-instance=0", "--only-output-from-instance=0", "x"}),
      ElementsAre(
          "--only-output-from-instance and --only-stdout-from-instance exclude each other: give only one"));
}

TEST(ParseOptionsMistakes, PlacementIsSaidBeforeTheFirstProgram) {
  for (const Arguments& words : {Arguments{"--map-by", "core"},
                                 {"--map-by", "slot:OVERSUBSCRIBE"},
                                 {"--bind-to", "none"},
                                 {"--process-placement", "disabled"}}) {
    Arguments line{"-np", "1", "--bind-to", "core", "a", ":", "-np", "1"};
    line.insert(line.end(), words.begin(), words.end());
    line.emplace_back("b");
    const cli::ParsedOptions parsed = cli::parseOptions(line);
    EXPECT_THAT(parsed.mistakes,
                ElementsAre(StartsWith(words.front() + ": is only allowed before the first program")));
    EXPECT_EQ(parsed.options.binding.mode, model::BindMode::kCompact);
  }
  EXPECT_THAT(mistakesIn({"a", ":", "--mpi-local-args=--bind-to none", "b"}),
              ElementsAre(StartsWith("--mpi-local-args: --bind-to: is only allowed before")));
}

TEST(ParseOptionsMistakes, ComeOutAllAtOnce) {
  EXPECT_THAT(
      mistakesIn({"--num-instances", "two", "--num-replicas=4x", "--bogus", "--ipus-per-replica=99999999999",
                  "--offline-mode=perhaps", "--tag-output=rank", "--help=1", "--system"}),
      UnorderedElementsAre(StartsWith("--num-instances:"), StartsWith("--num-replicas:"),
                           StartsWith("--bogus:"), StartsWith("--ipus-per-replica:"),
                           StartsWith("--offline-mode:"), StartsWith("--tag-output:"), StartsWith("--help:"),
                           StartsWith("--system:")));
}

TEST(ParseOptionsMistakes, HelpIsHeardInSpiteOfThem) {
  const cli::ParsedOptions parsed = cli::parseOptions({"--bogus", "--num-instances=two", "--help"});
  EXPECT_TRUE(parsed.options.help);
  EXPECT_EQ(parsed.mistakes.size(), 2U);
}

TEST(ProgramHint, SaysWhatAWordWasTakenForTheProgram) {
  EXPECT_EQ(cli::parseOptions({"--tag-output", "zebra", "./a"}).program_hint,
            "'zebra' is not a value of --tag-output, so it was read as the program");
  EXPECT_EQ(cli::parseOptions({"--host", "h1", "h2", "h3", "-np", "3", "hostname"}).program_hint,
            "did the shell expand the range of hosts? Quote it: --host 'h[1-3]'");
  EXPECT_EQ(cli::parseOptions({"-H", "h1", "h2"}, cli::Spelling::kMpirun).program_hint,
            "did the shell expand the range of hosts? Quote it: -H 'h[1-3]'");
  EXPECT_EQ(cli::parseOptions({"--host", "h1", "--", "h2"}).program_hint, "");
  EXPECT_EQ(cli::parseOptions({"--host", "h1", "-np", "1", "h2"}).program_hint, "");
  EXPECT_EQ(cli::parseOptions({"--tag-output", "yes", "./a"}).program_hint, "");
}

}  // namespace
}  // namespace pop
