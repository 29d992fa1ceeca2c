// SPDX-License-Identifier: Apache-2.0
// Configuration files: what is exported and imported again is the same job, and wrong files are refused by
// line.
#include "poprun/cli/config_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "common/sys/fd.h"
#include "poprun/cli/parse.h"
#include "poprun/plan/job_builder.h"
#include "tests/testing/forbidden_call.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/poprun/cli/option_samples.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

class ConfigFileTest : public ::testing::Test {
 protected:
  std::string path() const { return directory_ + "/job.cfg"; }
  void write(const std::string& text) const { std::ofstream(path()) << text; }

  cli::ParsedOptions imported(std::vector<std::string> words,
                              cli::Spelling spelling = cli::Spelling::kPoprun) const {
    words.insert(words.begin(), "--import-config=" + path());
    cli::ParsedOptions parsed = cli::parseOptions(words, spelling);
    parsed.options.import_config.clear();
    return parsed;
  }

  testing::TempDir temp_dir_;
  const std::string& directory_ = temp_dir_.path();
};

std::vector<std::string> mistakesInFile(const std::string& text) {
  return cli::parseConfig(text, "job.cfg").mistakes;
}

TEST_F(ConfigFileTest, WhatIsExportedAndImportedIsTheSameJob) {
  const Surroundings here{
      .host_name = "node7",
      .variable = [](const char*) -> const char* { return "value"; },
      .file = [](const std::string&) -> Result<std::string> { return std::string("a\nb:2\n"); },
      .directory = "/home/a",
      .exists = [](const std::string&) { return true; }};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SplitMix64 random(seed);
    const cli::ParsedOptions original = cli::parseOptions(testing::randomCommandLine(random));
    ASSERT_THAT(original.mistakes, IsEmpty()) << "seed " << seed;
    const std::string text = cli::configText(original.options);
    write(text);
    const cli::ParsedOptions again = imported({});
    ASSERT_THAT(again.mistakes, IsEmpty()) << "seed " << seed << '\n' << text;
    ASSERT_EQ(again.options, original.options) << "seed " << seed << '\n' << text;
    const BuiltJob first = buildJob(original.options, here);
    const BuiltJob second = buildJob(again.options, here);
    ASSERT_EQ(first.spec, second.spec) << "seed " << seed;
    ASSERT_EQ(first.mistakes, second.mistakes) << "seed " << seed;
  }
}

TEST_F(ConfigFileTest, IsReadAsPeopleWriteIt) {
  write(
      "# a comment\n\n  num-replicas=8 \n--ipus-per-replica = 2\nhost = node[0-1]\r\ntag-output = mpi\n"
      "mpi-global-args = --bind-to none -x FROM_MPI\n[program]\nnum-instances = 4\nx = A=1\nx = B\n"
      "command = ./train --data '/my data'\n");
  const cli::ParsedOptions parsed = imported({});
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  EXPECT_THAT(parsed.options.num_replicas, Optional(8));
  EXPECT_EQ(parsed.options.ipus_per_replica, 2);
  EXPECT_EQ(parsed.options.host, "node[0-1]");
  EXPECT_EQ(parsed.options.tag_output, TagOutput::kMpi);
  EXPECT_EQ(parsed.options.binding.mode, model::BindMode::kDisabled);
  EXPECT_THAT(parsed.options.programs.front().environment, ElementsAre("FROM_MPI", "A=1", "B"));
  EXPECT_THAT(parsed.options.programs.front().command, ElementsAre("./train", "--data", "/my data"));
}

TEST_F(ConfigFileTest, TheCommandLineOverridesIt) {
  write(
      "num-replicas = 8\nhost = a,b\nvv = yes\n[program]\nnum-instances = 4\nx = A=1\ncommand = old word\n");
  const Options options =
      imported({"--num-replicas=16", "--hostfile", "f", "-v", "-np", "2", "-x", "B", "new"}).options;
  EXPECT_THAT(options.num_replicas, Optional(16));
  EXPECT_EQ(options.host, "");
  EXPECT_EQ(options.hostfile, "f") << "one excludes the other, and the command line wins";
  EXPECT_EQ(options.verbosity, 1);
  EXPECT_THAT(options.programs.front().num_instances, Optional(2));
  EXPECT_THAT(options.programs.front().environment, ElementsAre("A=1", "B"));
  EXPECT_THAT(options.programs.front().command, ElementsAre("new"));
  EXPECT_THAT(imported({}).options.programs.front().command, ElementsAre("old", "word"));
}

TEST_F(ConfigFileTest, WhatALauncherDoesUnlessToldOtherwiseDoesNotOverrideIt) {
  using cli::Spelling;
  write("tag-output = host\n");
  EXPECT_EQ(imported({"x"}, Spelling::kMpirun).options.tag_output, TagOutput::kHost);
  EXPECT_EQ(imported({"x"}, Spelling::kHorovodrun).options.tag_output, TagOutput::kHost);
  EXPECT_EQ(imported({"-l", "x"}, Spelling::kMpirun).options.tag_output, TagOutput::kInstance);
  write("num-instances = 4\n");
  EXPECT_EQ(imported({"-H", "a,b", "x"}, Spelling::kMpirun).options.host, "a,b");
  write("host = c,d\n");
  EXPECT_EQ(imported({"-H", "a,b", "x"}, Spelling::kMpirun).options.host, "a,b");
  EXPECT_EQ(imported({"x"}, Spelling::kMpirun).options.host, "c,d");
  EXPECT_EQ(imported({"x"}, Spelling::kMpirun).options.tag_output, TagOutput::kNo);
}

TEST_F(ConfigFileTest, ProgramsOfTheCommandLineReplaceThoseOfTheFile) {
  write("[program]\ncommand = a\n[program]\nx = B\ncommand = b\n");
  EXPECT_EQ(imported({}).options.programs.size(), 2U);
  const Options options = imported({"-np", "3", "c"}).options;
  ASSERT_EQ(options.programs.size(), 1U);
  EXPECT_THAT(options.programs.front().environment, IsEmpty());
  EXPECT_THAT(imported({"-np", "3"}).mistakes,
              ElementsAre(HasSubstr("--num-instances: the file of --import-config "
                                    "has several programs")));
}

TEST_F(ConfigFileTest, MpiArgumentsOfTheCommandLineOverrideIt) {
  write("x = A=file\nwdir = /usr\nmpi-local-args = -x B=file -wdir /etc\ncommand = old\n");
  for (const char* program : {"", "new"}) {
    std::vector<std::string> words{"--mpi-local-args", "-x A=line -wdir /tmp"};
    if (*program != '\0') words.emplace_back(program);
    const ProgramOptions merged = imported(words).options.programs.front();
    EXPECT_THAT(merged.environment, ElementsAre("A=file", "B=file", "A=line"));
    EXPECT_EQ(merged.working_directory, "/tmp");
  }
}

TEST_F(ConfigFileTest, MpiArgumentsOfTheCommandLineAreForAllProgramsOfTheFile) {
  write("mpi-local-args = -x A=all\n[program]\nx = A=1\nwdir = /usr\ncommand = a\n[program]\ncommand = b\n");
  const cli::ParsedOptions parsed = imported({"--mpi-local-args", "-x A=line -wdir /tmp"});
  EXPECT_THAT(parsed.mistakes, ::testing::IsEmpty());
  const std::vector<ProgramOptions>& programs = parsed.options.programs;
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_THAT(programs[0].environment, ElementsAre("A=all", "A=1", "A=line"));
  EXPECT_EQ(programs[0].working_directory, "/tmp");
  EXPECT_THAT(programs[1].environment, ElementsAre("A=all", "A=line"));
  EXPECT_THAT(imported({"--mpi-local-args", "-x A=line", "-x", "B"}).mistakes,
              ElementsAre(HasSubstr("-x: the file of --import-config has several programs")));
}

TEST_F(ConfigFileTest, MpiArgumentsOfTheFileAreForAllProgramsOfTheCommandLine) {
  write("x = A=1\nmpi-local-args = -x A=all -wdir /usr\ncommand = old\n");
  const std::vector<ProgramOptions> programs = imported({"-x", "A=2", "one", ":", "two"}).options.programs;
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_THAT(programs[0].environment, ElementsAre("A=all", "A=2"));
  EXPECT_THAT(programs[1].environment, ElementsAre("A=all"));
  EXPECT_EQ(programs[1].working_directory, "/usr");
}

TEST_F(ConfigFileTest, ThatIsNotThereIsAMistake) {
  EXPECT_THAT(imported({"x"}).mistakes,
              ElementsAre("--import-config: " + path() + ": No such file or directory"));
  EXPECT_THAT(cli::parseOptions({"--import-config", directory_, "x"}).mistakes,
              ElementsAre("--import-config: " + directory_ + ": Is a directory"));
}

TEST(ConfigMistakes, NameFileLineAndCause) {
  EXPECT_THAT(
      mistakesInFile("num-replicas = 8\n\nnum-replica = 4\nnonsense\n[job]\nhelp = yes\nnum-replicas = x\n"),
      ElementsAre("job.cfg:3: no such option: 'num-replica'; did you mean num-replicas?",
                  "job.cfg:4: 'nonsense' is not `option = value`, [program] or a comment",
                  "job.cfg:5: '[job]' is not `option = value`, [program] or a comment",
                  "job.cfg:6: --help is for the command line only",
                  "job.cfg:7: --num-replicas: 'x' is not a whole number"));
  EXPECT_THAT(mistakesInFile("[program]\nhost = a\n"),
              ElementsAre("job.cfg:2: --host applies to all programs: put it before the first [program]"));
  EXPECT_THAT(mistakesInFile("host = \"a\n"), ElementsAre("job.cfg:1: the value has an open quote"));
  EXPECT_THAT(mistakesInFile("host = \"a\" b\n"), ElementsAre("job.cfg:1: text after the closing quote"));
  EXPECT_THAT(
      mistakesInFile("host = \"a\" # b\nnum-replicas = 2  # two\n"),
      ElementsAre(
          "job.cfg:1: text after the closing quote; put comments on lines of their own",
          "job.cfg:2: --num-replicas: '2  # two' is not a whole number; put comments on lines of their own"));
  EXPECT_THAT(mistakesInFile("command = 'a\n"), ElementsAre(HasSubstr("job.cfg:1: ''a' has an open quote")));
  EXPECT_THAT(mistakesInFile("mpi-global-args = --bogus\n"),
              ElementsAre(HasSubstr("job.cfg:1: --mpi-global-args: --bogus")));
}

TEST(ConfigMistakes, OptionsOfOneProgramDoNotStandAboveSeveral) {
  const std::string above = "x = A=1\nmpi-local-args = -x B\nnum-instances = 2\n";
  const std::string program = "[program]\ncommand = a\n";
  EXPECT_THAT(mistakesInFile(above + program), IsEmpty()) << "there is only one they can be said of";
  EXPECT_THAT(mistakesInFile(above + "command = a\n" + program + program), IsEmpty())
      << "they are the first's";
  EXPECT_THAT(
      mistakesInFile(above + program + program + program),
      ElementsAre("job.cfg:1: -x applies to one program, and the file has several: put it below a [program]",
                  "job.cfg:3: --num-instances applies to one program, and the file has several: put it below "
                  "a [program]"));
}

TEST(ConfigMistakes, OfAFileThatIsNoneOfOursAreNotAllNamed) {
  std::string rubbish;
  for (int line = 0; line < 100; ++line) rubbish += "rubbish\n";
  const std::vector<std::string> mistakes = mistakesInFile(rubbish);
  EXPECT_EQ(mistakes.size(), 33U);
  EXPECT_EQ(mistakes.back(), "job.cfg: and 68 more mistakes");
}

TEST_F(ConfigFileTest, MayBeginWithAByteOrderMark) {
  ASSERT_TRUE(cli::writeConfigFile(path(), "\xef\xbb\xbfnum-replicas = 4\r\n", false).ok());
  EXPECT_THAT(imported({"x"}).mistakes, ::testing::IsEmpty());
  EXPECT_EQ(imported({"x"}).options.num_replicas, 4);
}

TEST(ConfigText, ShowsDefaultsAsComments) {
  Options options;
  options.num_replicas = 4;
  const std::string text = cli::configText(options);
  EXPECT_THAT(text, HasSubstr("\nnum-replicas = 4\n"));
  EXPECT_THAT(text, HasSubstr("\n# ipus-per-replica = 1\n"));
  EXPECT_THAT(text, HasSubstr("\n# kill-grace = 5\n"));
}

TEST_F(ConfigFileTest, IsWrittenWholeAndReplacedOnlyWhenAllowed) {
  ASSERT_TRUE(cli::writeConfigFile(path(), "first\n", false).ok());
  const Status again = cli::writeConfigFile(path(), "second\n", false);
  EXPECT_EQ(again.code(), Code::kAlreadyExists);
  EXPECT_EQ(again.message(),
            "--export-config: " + path() + " already exists (--overwrite-config yes replaces it)");
  EXPECT_EQ(sys::readFile(path()).value(), "first\n");
  ASSERT_TRUE(cli::writeConfigFile(path(), "second\n", true).ok());
  EXPECT_EQ(sys::readFile(path()).value(), "second\n");
  const auto entries = std::distance(std::filesystem::directory_iterator(directory_), {});
  EXPECT_EQ(entries, 1) << "no temporary file stays";
  EXPECT_THAT(cli::writeConfigFile(directory_ + "/none/job.cfg", "x", false).message(),
              HasSubstr("--export-config: " + directory_ + "/none/job.cfg: No such file or directory"));
}

// vfat and many file systems that keep their files in a network's objects have none.
TEST_F(ConfigFileTest, IsWrittenWhereTheFileSystemHasNoHardLinks) {
  std::thread([this] {
    ASSERT_TRUE(testing::forbidSystemCall(SYS_link));
    const Status written = cli::writeConfigFile(path(), "first\n", false);
    EXPECT_TRUE(written.ok()) << written.message();
  }).join();
  EXPECT_EQ(sys::readFile(path()).value(), "first\n");
  const auto entries = std::distance(std::filesystem::directory_iterator(directory_), {});
  EXPECT_EQ(entries, 1) << "no temporary file stays";
}

mode_t modeOf(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
}

TEST_F(ConfigFileTest, ThatIsReplacedKeepsItsMode) {
  write("first\n");
  ASSERT_EQ(::chmod(path().c_str(), 0600), 0);
  ASSERT_TRUE(cli::writeConfigFile(path(), "x = PASSWORD=secret\n", true).ok());
  EXPECT_EQ(modeOf(path()), 0600U);
}

TEST_F(ConfigFileTest, ThatALinkLeadsToIsReplacedAndTheLinkStays) {
  write("first\n");
  const std::string link = directory_ + "/link.cfg";
  std::filesystem::create_symlink("job.cfg", link);
  EXPECT_EQ(cli::writeConfigFile(link, "second\n", false).code(), Code::kAlreadyExists);
  ASSERT_TRUE(cli::writeConfigFile(link, "second\n", true).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(sys::readFile(path()).value(), "second\n");
  std::filesystem::remove(path());
  EXPECT_EQ(cli::writeConfigFile(link, "third\n", true).message(),
            "--export-config: " + link + " is a link: No such file or directory");
}

TEST_F(ConfigFileTest, ThatIsAPipeIsWrittenToAndStaysOne) {
  for (const bool overwrite : {false, true}) {
    const std::string pipe = directory_ + (overwrite ? "/replaced" : "/pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const sys::Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(cli::writeConfigFile(pipe, "text\n", overwrite).ok());
    std::array<char, 16> text{};
    ASSERT_EQ(::read(reader.get(), text.data(), text.size()), 5);
    EXPECT_STREQ(text.data(), "text\n");
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  }
}

TEST_F(ConfigFileTest, ThatIsADirectoryIsRefused) {
  EXPECT_EQ(cli::writeConfigFile(directory_, "text\n", true).message(),
            "--export-config: " + directory_ + ": Is a directory");
}

}  // namespace
}  // namespace pop
