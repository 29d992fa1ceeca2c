// SPDX-License-Identifier: Apache-2.0
// The real poprun with command lines that users of PopRun, mpirun and horovodrun really write, under their
// names.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/sys/cores.h"
#include "common/sys/fd.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class CommandLine : public ::testing::Test {
 protected:
  // poprun, called by another name.
  static Outcome runAs(const std::string& name, std::vector<std::string> words,
                       std::map<std::string, std::string> environment = {}) {
    PoprunSetup setup{.options = std::move(words), .environment = std::move(environment)};
    setup.program = POP_BIN_DIR "/names/" + name;
    return run(setup);
  }

  TempDir temp_dir_;
  const std::string& directory_ = temp_dir_.path();
};

// A build of the programs that jobs on this host need lacks those for other hosts.
TEST_F(CommandLine, ThatNeedsAProgramThatWasNotBuiltSaysHow) {
  std::filesystem::copy_file(POP_BIN_DIR "/poprun", directory_ + "/poprun");
  PoprunSetup setup{.options = {"--host", "other", "true"}};
  setup.program = directory_ + "/poprun";
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(directory_ + "/poprun-hosts"), HasSubstr("cmake --build")));
}

TEST_F(CommandLine, PopRunsRealOnesCanBePlanned) {
  const std::vector<std::vector<std::string>> lines{
      {"--num-instances=8", "--num-replicas=16"},
      {"--num-instances=4", "--num-replicas=8", "--ipus-per-replica=2"},
      {"--vipu-partition", "popxl_test", "--update-partition", "yes", "--num-replicas", "16",
       "--num-instances", "8"},
      {"-vv", "--vipu-partition=slurm_17", "--num-instances=1", "--num-replicas=4",
       "--executable-cache-path=/cache"},
      {"-vv", "--host", "h0,h1,h2,h3", "--vipu-partition=p", "--vipu-server-host=10.1.3.101",
       "--update-partition=yes", "--print-topology=yes",
       "--mpi-global-args=--tag-output --allow-run-as-root --mca oob_tcp_if_include 10.5.17.0/24 --mca "
       "btl_tcp_if_include 10.5.17.0/24",
       "--num-replicas=64", "--numa-aware=yes", "--num-ilds=4", "--num-instances=16", "--ipus-per-replica=4",
       "--executable-cache-path=/cache"},
      {"-vv", "--num-instances=16", "--num-replicas=64", "--vipu-server-host=h", "--host=h[0-3]",
       "--vipu-server-port", "8090", "--vipu-partition=p", "--vipu-cluster=c", "--update-partition=yes",
       "--remove-partition=yes", "--reset-partition=no", "--sync-type=ST_POD_NATIVE_DEFAULT",
       "--executable-cache-path=/cache", "--mpi-global-args=--mca btl_tcp_if_include eno1",
       "--mpi-local-args= -x LD_LIBRARY_PATH -x OPAL_PREFIX -x PATH -x CPATH -x PYTHONPATH -x "
       "IPUOF_VIPU_API_TIMEOUT=800"},
      {"--offline-mode=on", "-vv", "--num-ilds", "2", "--num-instances", "2", "--num-replicas", "32",
       "--ipus-per-replica", "4"},
      {"--num-replicas", "2", "--ipus-per-replica", "2", "--num-instances", "2",
       "--only-output-from-instance", "0"},
      {"--host-subnet=10.5.0.0/16", "--process-placement", "disabled", "--allow-run-as-root", "1", "--vv"},
  };
  for (std::vector<std::string> line : lines) {
    line.insert(line.begin(), "--dry-run");
    line.insert(line.end(), {"python3", "train.py", "--compile-only"});
    const Outcome result = run({.options = line});
    EXPECT_EQ(result.exit_code, 0) << line[1] << '\n' << result.err;
    EXPECT_THAT(result.out, HasSubstr("program: python3 train.py --compile-only"));
  }
}

TEST_F(CommandLine, APlanComesAsJson) {
  const std::string command = std::string(POP_BIN_DIR "/poprun") +
                              " --dry-run=json -H a:2,b:2 ./train | python3 -c 'import json, sys; "
                              "print([i[\"host\"] for i in json.load(sys.stdin)[\"instances\"]])'";
  const Outcome result = run({.options = {"--", "sh", "-c", command}});
  EXPECT_EQ(result.out, "['a', 'a', 'b', 'b']\n") << result.err;
}

TEST_F(CommandLine, OneWarningForMpisTransports) {
  const Outcome result =
      run({.options = {"--mpi-global-args=--prefix a --tune b", "-prtemca", "e", "f", "true"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(linesOf(result.err),
              ElementsAre(StartsWith("poprun: warning: --prefix, --tune, -prtemca e: ignored")));
}

TEST_F(CommandLine, UnknownHostsAreRefusedOnlyAtTheStart) {
  const Outcome hosts = run({.options = {"--host", "no-such-host-[1-2]", "-np", "2", "true"}});
  EXPECT_EQ(hosts.exit_code, 125);
  EXPECT_THAT(hosts.err, HasSubstr("no-such-host-1"));
  EXPECT_THAT(hosts.err, HasSubstr("no-such-host-2"));
  EXPECT_EQ(run({.options = {"--host", "no-such-host-[1-2]", "-np", "2", "--dry-run", "./train"}}).exit_code,
            0);
}

TEST_F(CommandLine, HostsFileGivesTheNumberOfInstances) {
  const std::string file = directory_ + "/hosts";
  ASSERT_EQ(::system(("printf 'localhost slots=3 # this one\\n' > " + file).c_str()), 0);
  const Outcome result = run({.options = {"--hostfile", file, "echo", "x"}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(linesOf(result.out).size(), 3U);
  EXPECT_EQ(run({.options = {"--hostfile", file, "-np", "4", "true"}}).exit_code, 125);
  EXPECT_EQ(run({.options = {"--hostfile", file, "-np", "4", "--oversubscribe=yes", "true"}}).exit_code, 0);
}

TEST_F(CommandLine, AMistakeInEachPartIsReported) {
  const Outcome result = run({.options = {"--bogus", "--timeout=x", "--host", "a,,b", "--stdin", "7"}});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(linesOf(result.err),
              UnorderedElementsAre(StartsWith("poprun: --bogus:"), StartsWith("poprun: --timeout:"),
                                   StartsWith("poprun: --host:"), StartsWith("poprun: --stdin 7"),
                                   StartsWith("poprun: no program")));
}

TEST_F(CommandLine, MpirunsNameMeansMpirunsSpelling) {
  for (const char* name : {"mpirun", "mpiexec"}) {
    const Outcome result =
        runAs(name, {"-np", "2", "--oversubscribe", "--allow-run-as-root", "-q", "echo", "hello"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "hello\nhello\n") << "no tags unless asked for";
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(CommandLine, EveryNameStartsPlainPrograms) {
  for (const char* name : {"mpirun", "mpiexec", "orterun", "prterun", "mpirun.openmpi", "mpiexec.openmpi",
                           "mpiexec.hydra", "mpirun.mpich", "mpiexec.mpich"}) {
    const Outcome result = runAs(name, {"-n", "2", "uname", "-s"});
    EXPECT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_EQ(result.out + result.err, "Linux\nLinux\n") << name;
    EXPECT_THAT(runAs(name, {"--version"}).out, StartsWith("poprun ")) << name;
  }
}

TEST_F(CommandLine, WithoutANumberMpirunFillsTheCoresAndHydraStartsOne) {
  const int cores = sys::countCores();
  EXPECT_THAT(linesOf(runAs("mpirun", {"echo", "x"}).out), SizeIs(cores));
  EXPECT_THAT(linesOf(runAs("mpirun", {"-H", "localhost:3", "echo", "x"}).out), SizeIs(3));
  EXPECT_THAT(linesOf(runAs("mpiexec.hydra", {"echo", "x"}).out), SizeIs(1));
  EXPECT_THAT(linesOf(run({.options = {"echo", "x"}}).out), SizeIs(1));
}

TEST_F(CommandLine, MpirunsCommandLinesWorkUnchanged) {
  const std::string file = directory_ + "/hosts";
  ASSERT_EQ(::system(("printf 'localhost slots=4\n' > " + file).c_str()), 0);
  const std::map<std::string, std::string> environment{{"POP_A1", "one"}, {"POP_A2", "two"}};
  const std::string show = "echo $POP_A1 $POP_A2 $POP_B $OMPI_MCA_btl $PWD";
  const std::vector<std::vector<std::string>> lines{
      {"-np", "2", "--hostfile", file, "-x", "POP_A*", "-x", "POP_B=b", "--mca", "btl", "self", "--bind-to",
       "none", "--map-by", "slot", "-wdir", "/usr"},
      {"--allow-run-as-root", "--oversubscribe", "-c", "2", "-machinefile", file, "-genv", "POP_B", "b",
       "-genvlist", "POP_A1,POP_A2", "-gmca", "btl", "self", "--wdir", "/usr", "-q"},
      {"--npernode", "2",    "--host", "localhost:4", "-x",         "POP_A1", "-x",
       "POP_A2",     "-env", "POP_B",  "b",           "--map-by",   "node",   "-mca",
       "btl",        "self", "-wd",    "/usr",        "--npernode", "2"},
      {"-ppn", "2", "-hosts", "localhost", "-genvall", "-genv", "POP_B=b", "--map-by", "ppr:2:node",
       "--mca=btl", "self", "--wdir=/usr"},
  };
  for (std::vector<std::string> words : lines) {
    words.insert(words.end(), {"sh", "-c", show});
    const Outcome result = runAs("mpirun", words, environment);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "one two b self /usr\none two b self /usr\n") << words.front();
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(CommandLine, MpirunsProgramsHaveTheirOwnNumbers) {
  const Outcome result = runAs("mpiexec", {"-n", "2", "echo", "first", ":", "-np", "1", "-x", "POP_B=b", "sh",
                                           "-c", "echo second $POP_B $POPDIST_INSTANCE_INDEX"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(linesOf(result.out), UnorderedElementsAre("first", "first", "second b 2"));
}

TEST_F(CommandLine, MpirunRefusesMoreThanTheSlotsHold) {
  const Outcome result = runAs("mpirun", {"-np", "5", "--host", "localhost:4", "true"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(linesOf(result.err), ElementsAre(HasSubstr("--oversubscribe")));
  EXPECT_EQ(runAs("mpirun", {"-np", "5", "--host", "localhost:4", "--oversubscribe", "true"}).exit_code, 0);
}

TEST_F(CommandLine, HorovodrunsNameMeansHorovodrunsSpelling) {
  const Outcome result =
      runAs("horovodrun", {"--gloo", "-np", "2", "-H", "localhost:2", "-p", "22", "echo", "hello"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(linesOf(result.out).size(), 2U);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(runAs("horovodrun", {"-cb"}).out, HasSubstr("boost "));
  EXPECT_THAT(runAs("horovodrun", {"-v"}).out, StartsWith("poprun "));
}

TEST_F(CommandLine, AJobIsExportedAndImported) {
  const std::string file = directory_ + "/job.cfg";
  const Outcome first =
      run({.options = {"--export-config", file, "-np", "2", "--tag-output=no", "echo", "a  b"}});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "a  b\na  b\n") << "the job runs, too";
  EXPECT_EQ(run({.options = {"--import-config", file}}).out, first.out);
  EXPECT_EQ(run({.options = {"--import-config", file, "--np", "1", "echo", "c"}}).out, "c\n");

  const Outcome again = run({.options = {"--export-config", file, "true"}});
  EXPECT_EQ(again.exit_code, 125);
  EXPECT_THAT(again.err, HasSubstr("job.cfg already exists (--overwrite-config yes replaces it)"));
  EXPECT_EQ(run({.options = {"--export-config", file, "--overwrite-config", "--num-replicas=6"}}).exit_code,
            0)
      << "without a program, only the file is written";
  EXPECT_THAT(sys::readFile(file).value(), HasSubstr("\nnum-replicas = 6\n"));
  const Outcome wrong =
      run({.options = {"--export-config", directory_ + "/other", "-np", "2", "--num-replicas=5"}});
  EXPECT_EQ(wrong.exit_code, 125);
  EXPECT_THAT(linesOf(wrong.err), ElementsAre(HasSubstr("cannot be divided evenly")))
      << "but for the program";
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/other"));
}

TEST_F(CommandLine, AJobIsExportedToTheStandardOutput) {
  const std::vector<std::string> words{"--export-config", "/dev/stdout", "--num-replicas=6"};
  const Outcome piped = run({.options = words});
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("\nnum-replicas = 6\n"));

  const std::string path = directory_ + "/redirected";
  const sys::Fd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const Outcome redirected = run({.options = words, .descriptors = {{1, file.get()}}});
  EXPECT_EQ(redirected.exit_code, 0) << redirected.err;
  EXPECT_EQ(sys::readFile(path).value(), piped.out);
}

TEST_F(CommandLine, WrongFilesAreRefusedByLine) {
  const std::string file = directory_ + "/job.cfg";
  ASSERT_EQ(::system(("printf 'host = a\\nnum-instances = many\\n' > " + file).c_str()), 0);
  const Outcome result = run({.options = {"--import-config", file, "true"}});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.err, "poprun: " + file + ":2: --num-instances: 'many' is not a whole number\n");
}

TEST_F(CommandLine, VersionsComeInThreeForms) {
  EXPECT_THAT(run({.options = {"--version", "--version-format", "full-text"}}).out, HasSubstr("\npopdist "));
  const std::string json = run({.options = {"--version", "--version-format=full-json"}}).out;
  EXPECT_THAT(json, StartsWith("{\"poprun\":\""));
  EXPECT_EQ(run({.options = {"--version", "--version-format=xml"}}).exit_code, 125);
}

TEST_F(CommandLine, TheExecutableCacheIsADirectoryThatAllSee) {
  const std::string cache = directory_ + "/new/cache";
  const Outcome result =
      run({.options = {"--executable-cache-path", cache, "printenv", "POPDIST_EXECUTABLE_CACHE_PATH"}});
  EXPECT_EQ(result.out, cache + '\n') << result.err;
  EXPECT_TRUE(std::filesystem::is_directory(cache));
}

}  // namespace
}  // namespace pop::testing
