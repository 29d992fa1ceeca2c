// SPDX-License-Identifier: Apache-2.0
// Command lines as users of mpirun and PopRun's --mpi-…-args write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "poprun/cli/parse.h"
#include "poprun/plan/job_builder.h"

namespace pop {
namespace {

using cli::Spelling;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

using Arguments = std::vector<std::string>;

Options optionsOf(Spelling spelling, const Arguments& arguments) {
  const cli::ParsedOptions parsed = cli::parseOptions(arguments, spelling);
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  EXPECT_THAT(parsed.warnings, IsEmpty());
  return parsed.options;
}

Options mpirun(const Arguments& arguments) {
  return optionsOf(Spelling::kMpirun, arguments);
}
Options poprun(const Arguments& arguments) {
  return optionsOf(Spelling::kPoprun, arguments);
}

TEST(SpellingOf, FollowsTheNameOfTheProgram) {
  EXPECT_EQ(cli::spellingOf("poprun"), Spelling::kPoprun);
  EXPECT_EQ(cli::spellingOf("/usr/bin/poprun-2"), Spelling::kPoprun);
  EXPECT_EQ(cli::spellingOf("/opt/bin/mpirun"), Spelling::kMpirun);
  EXPECT_EQ(cli::spellingOf("mpiexec"), Spelling::kMpirun);
  EXPECT_EQ(cli::spellingOf("./horovodrun"), Spelling::kHorovodrun);
  EXPECT_EQ(cli::spellingOf(""), Spelling::kPoprun);
  for (const char* name : {"orterun", "prterun", "/usr/bin/mpirun.openmpi", "mpiexec.openmpi"})
    EXPECT_EQ(cli::spellingOf(name), Spelling::kMpirun) << name;
  for (const char* name : {"mpiexec.hydra", "mpirun.mpich", "/x/mpiexec.mpich"})
    EXPECT_EQ(cli::spellingOf(name), Spelling::kHydra) << name;
  for (const char* name : {".openmpi", "mpirun.other", "mpirun.", "mpirunner"})
    EXPECT_EQ(cli::spellingOf(name), Spelling::kPoprun) << name;
}

TEST(DetachedJobs, AreReachedByPoprunsOwnNamesOnly) {
  EXPECT_TRUE(poprun({"--logs", "7", "-f"}).detached.follow);
  EXPECT_EQ(mpirun({"-f", "hosts", "x"}).hostfile, "hosts");
  EXPECT_TRUE(mpirun({"--detach", "x"}).detached.detach);
  EXPECT_TRUE(mpirun({"--logs", "7", "--follow"}).detached.follow);
  EXPECT_EQ(mpirun({"--jobs=h1:"}).detached.jobs, (JobAddress{"h1", ""}));
  for (const Spelling spelling : {Spelling::kMpirun, Spelling::kHydra, Spelling::kHorovodrun}) {
    for (const char* word : {"-detach", "-jobs", "-json", "-control", "-follow"}) {
      EXPECT_THAT(cli::parseOptions({word, "x"}, spelling).mistakes,
                  ElementsAre(HasSubstr(std::string(word) + ": no such option")));
    }
  }
  EXPECT_THAT(cli::parseOptions({"-f", "x"}, Spelling::kHorovodrun).mistakes,
              ElementsAre(HasSubstr("-f: no such option")));
}

TEST(Mpirun, TakesItsUsualOptions) {
  const Options options =
      mpirun({"-np", "4", "-H", "localhost:4", "-x", "A=1", "-x", "B", "-wdir", "/tmp", "--allow-run-as-root",
              "--oversubscribe", "--report-bindings", "--timeout", "10", "-q", "./train", "-np"});
  EXPECT_THAT(options.programs.front().num_instances, Optional(4));
  EXPECT_EQ(options.host, "localhost:4");
  EXPECT_THAT(options.programs.front().environment, ElementsAre("A=1", "B"));
  EXPECT_EQ(options.programs.front().working_directory, "/tmp");
  EXPECT_TRUE(options.oversubscribe && options.report_bindings);
  EXPECT_EQ(options.timeout, std::chrono::seconds(10));
  EXPECT_EQ(options.tag_output, TagOutput::kNo) << "mpirun tags only when told to";
  EXPECT_THAT(options.programs.front().command, ElementsAre("./train", "-np"));
}

TEST(Mpirun, FlagsTakeNoWord) {
  const Options options = mpirun({"--tag-output", "-timestamp-output", "--report-bindings", "yes", "no"});
  EXPECT_EQ(options.tag_output, TagOutput::kMpi);
  EXPECT_TRUE(options.timestamp_output);
  EXPECT_THAT(options.programs.front().command, ElementsAre("yes", "no")) << "yes is a program";
}

TEST(Mpirun, TheSignalsToForwardAreAValue) {
  for (const Arguments& words :
       {Arguments{"--forward-signals", "SIGUSR1", "prog"}, {"--forward-signals=10", "prog"}}) {
    EXPECT_THAT(mpirun(words).programs.front().command, ElementsAre("prog"));
  }
}

TEST(Mpirun, LongNamesMayHaveOneDash) {
  EXPECT_EQ(mpirun({"-hostfile", "f", "x"}).hostfile, "f");
  EXPECT_EQ(mpirun({"--machinefile", "f", "x"}).hostfile, "f");
  EXPECT_EQ(mpirun({"-host", "a,b", "-np", "2", "x"}).host, "a,b");
  EXPECT_EQ(mpirun({"-output-filename", "d", "x"}).output_filename, "d");
  EXPECT_THAT(mpirun({"-num-replicas", "6", "x"}).num_replicas, Optional(6));
}

BuiltJob jobOf(Spelling spelling, const Arguments& words, const std::string& hostfile = "") {
  return buildJob(optionsOf(spelling, words),
                  {.host_name = "node7",
                   .variable = [](const char*) -> const char* { return nullptr; },
                   .file = [&](const std::string&) -> Result<std::string> { return hostfile; }});
}

TEST(Mpirun, ARepeatedHostIsASlot) {
  using model::Host;
  for (const Spelling each :
       {Spelling::kMpirun, Spelling::kHydra, Spelling::kHorovodrun, Spelling::kPoprun}) {
    EXPECT_THAT(jobOf(each, {"--host", "localhost:2,localhost:1", "x"}).spec.hosts,
                ElementsAre(Host{"localhost", 3}));
    EXPECT_THAT(jobOf(each, {"--host", "node7:2,b:0,localhost", "x"}).spec.hosts,
                ElementsAre(Host{"node7", 3}));
    EXPECT_THAT(jobOf(each, {"--hostfile", "f", "x"}, "a slots=2\nb\na slots=3\nb").spec.hosts,
                ElementsAre(Host{"a", 5}, Host{"b", 2}));
  }
  const BuiltJob three = jobOf(Spelling::kMpirun, {"--host", "a,a,b", "x"});
  EXPECT_EQ(three.spec.num_instances, 3) << "as many as PBS and others list";
  EXPECT_THAT(three.spec.hosts, ElementsAre(Host{"a", 2}, Host{"b", 1}));
}

TEST(Mpirun, AHostIsASlotWhenTheNumberOfInstancesIsNotSaid) {
  EXPECT_TRUE(mpirun({"x"}).hosts_are_slots && mpirun({"x"}).fills_cores);
  const Options hydra = optionsOf(Spelling::kHydra, {"x"});
  EXPECT_TRUE(hydra.hosts_are_slots && !hydra.fills_cores);
  EXPECT_FALSE(poprun({"x"}).hosts_are_slots || poprun({"x"}).fills_cores);
  EXPECT_EQ(mpirun({"-H", "a", "-H", "b", "-np", "4", "x"}).host, "b");
}

TEST(Mpirun, HydraGivesTheWholeEnvironmentAndKnowsNoLimit) {
  EXPECT_TRUE(optionsOf(Spelling::kHydra, {"x"}).genvall);
  EXPECT_TRUE(optionsOf(Spelling::kHydra, {"x"}).oversubscribe);
  EXPECT_FALSE(optionsOf(Spelling::kHydra, {"--nooversubscribe", "x"}).oversubscribe);
  EXPECT_FALSE(mpirun({"x"}).oversubscribe);
  EXPECT_FALSE(mpirun({"x"}).genvall);
  EXPECT_TRUE(mpirun({"-genvall", "x"}).genvall);
}

TEST(Mpirun, ReachesHostsAsOpenMpiIsTold) {
  EXPECT_EQ(mpirun({"-mca", "plm_rsh_args", "-p 12345", "x"}).hosts.rsh, "ssh -p 12345");
  EXPECT_EQ(
      mpirun({"--mca", "plm_rsh_agent", "ssh -q : rsh", "-mca", "plm_rsh_args", "-i 'a key'", "x"}).hosts.rsh,
      "ssh -q -i 'a key'");
  EXPECT_EQ(mpirun({"--mca", "plm_rsh_agent", "/bin/false", "x"}).hosts.rsh, "/bin/false");
  EXPECT_EQ(mpirun({"--mca", "plm_rsh_args", "-p 1", "--rsh", "ssh -v", "x"}).hosts.rsh, "ssh -v");
  EXPECT_THAT(cli::parseOptions({"--mca", "plm_rsh_args", "-i 'a", "x"}, Spelling::kMpirun).mistakes,
              ElementsAre(HasSubstr("--rsh: ")));
}

TEST(Mpirun, LeavesHorovodToItsMpi) {
  for (const Spelling spelling : {Spelling::kMpirun, Spelling::kHydra}) {
    contract::EnvFamilies families = contract::allEnvFamilies();
    families.erase(contract::EnvFamily::kHorovod);
    EXPECT_EQ(optionsOf(spelling, {"x"}).env_families, families);
    EXPECT_EQ(optionsOf(spelling, {"--env-for", "all", "x"}).env_families, contract::allEnvFamilies());
  }
  EXPECT_EQ(poprun({"x"}).env_families, contract::allEnvFamilies());
}

TEST(Mpirun, CountsTheInstancesOfAHost) {
  for (const Arguments& words : {Arguments{"-N", "3"},
                                 {"-npernode", "3"},
                                 {"--npernode", "3"},
                                 {"-ppn", "3"},
                                 {"-perhost", "3"},
                                 {"--nproc-per-node=3"},
                                 {"--map-by", "ppr:3:node"},
                                 {"-map-by", "PPR:3:NODE:OVERSUBSCRIBE"}}) {
    Arguments all = words;
    all.emplace_back("x");
    EXPECT_EQ(mpirun(all).per_host, InstancesPerHost{.most = 3}) << words.front();
    EXPECT_THAT(mpirun(all).programs.front().command, ElementsAre("x"));
  }
  EXPECT_EQ(mpirun({"--pernode", "x"}).per_host, InstancesPerHost{.most = 1});
  EXPECT_TRUE(mpirun({"--map-by", "ppr:3:node:OVERSUBSCRIBE", "x"}).oversubscribe);
  EXPECT_EQ(mpirun({"--map-by", "ppr:2:node:PE=4", "x"}).binding,
            (model::BindPolicy{model::BindMode::kCompact, 4, {}}));
  for (const Arguments& words : {Arguments{"--map-by", "node", "x"}, {"--bynode", "x"}})
    EXPECT_EQ(mpirun(words).per_host, InstancesPerHost{.even = true});
  EXPECT_EQ(poprun({"-ppn", "2", "x"}).per_host, InstancesPerHost{.most = 2});
}

TEST(Mpirun, GivesOpenMpiItsParameters) {
  const Options options = mpirun({"--mca", "btl", "tcp,self", "-x", "A=1", "one", ":", "-gmca", "oob", "a=b",
                                  "two", ":", "-pmixmca", "gds", "hash", "three"});
  EXPECT_THAT(options.programs[0].environment,
              ElementsAre("OMPI_MCA_btl=tcp,self", "A=1", "OMPI_MCA_oob=a=b", "PMIX_MCA_gds=hash"));
  EXPECT_THAT(options.programs[1].environment,
              ElementsAre("OMPI_MCA_btl=tcp,self", "OMPI_MCA_oob=a=b", "PMIX_MCA_gds=hash"));
  EXPECT_EQ(options.programs[2].environment, options.programs[1].environment);
  EXPECT_THAT(
      poprun({"--mpi-global-args=--mca btl_tcp_if_include 10.5.17.0/24", "x"}).programs.front().environment,
      ElementsAre("OMPI_MCA_btl_tcp_if_include=10.5.17.0/24"));
}

TEST(Mpirun, TakesMpichsWaysToOtherHosts) {
  EXPECT_EQ(mpirun({"-iface", "ib0", "x"}).host_subnet, "ib0");
  EXPECT_THAT(mpirun({"-launcher", "fork", "-rmk", "user", "x"}).programs.front().command, ElementsAre("x"));
  EXPECT_EQ(mpirun({"-info"}).version_format, VersionFormat::kFullText);
}

TEST(Mpirun, TakesMpichsWays) {
  const Options options =
      mpirun({"-n", "2", "-genv", "A", "1", "-genvlist", "B,C", "-f", "hosts", "-l", "x"});
  EXPECT_THAT(options.programs.front().environment, ElementsAre("A=1", "B", "C"));
  EXPECT_EQ(options.hostfile, "hosts");
  EXPECT_EQ(options.tag_output, TagOutput::kInstance);
}

TEST(Mpirun, AVariableOfMpichsMayBeOneWord) {
  for (const char* option : {"-genv", "-env"}) {
    const Options options = mpirun({option, "A=1", "-n", "2", option, "B", "C=2", "printenv", "A"});
    EXPECT_THAT(options.programs.front().environment, ElementsAre("A=1", "B=C=2"));
    EXPECT_THAT(options.programs.front().num_instances, Optional(2));
    EXPECT_THAT(options.programs.front().command, ElementsAre("printenv", "A"));
  }
}

TEST(Mpirun, MpichsGlobalVariablesAreForAllProgramsAndItsLocalOnesForOne) {
  const Options options = mpirun({"-genv", "A", "1", "-env", "L", "1", "a", ":", "-genvlist", "B,C",
                                  "-envlist", "M", "b", ":", "-genv", "D=2", "c"});
  ASSERT_EQ(options.programs.size(), 3U);
  EXPECT_THAT(options.programs[0].environment, ElementsAre("A=1", "L=1", "B", "C", "D=2"));
  EXPECT_THAT(options.programs[1].environment, ElementsAre("A=1", "B", "C", "M", "D=2"));
  EXPECT_THAT(options.programs[2].environment, ElementsAre("A=1", "B", "C", "D=2"));
}

TEST(Mpirun, BindsAndMaps) {
  using model::BindMode;
  const auto binding = [](const Arguments& words) {
    Arguments all = words;
    all.emplace_back("x");
    return mpirun(all).binding;
  };
  EXPECT_EQ(binding({}).mode, BindMode::kSpreadNuma);
  EXPECT_EQ(binding({"--bind-to", "none"}).mode, BindMode::kDisabled);
  EXPECT_EQ(binding({"--map-by", "socket", "--bind-to", "none"}).mode, BindMode::kDisabled);
  EXPECT_EQ(binding({"--bind-to", "core"}), (model::BindPolicy{BindMode::kCompact, 1, {}}));
  EXPECT_EQ(binding({"--bind-to", "hwthread"}), (model::BindPolicy{BindMode::kCompact, 1, {}}));
  EXPECT_EQ(binding({"--bind-to", "core", "--map-by", "socket"}),
            (model::BindPolicy{BindMode::kSpreadCores, 1, {}}));
  EXPECT_EQ(binding({"--map-by", "slot:PE=4"}), (model::BindPolicy{BindMode::kCompact, 4, {}}));
  EXPECT_EQ(binding({"--map-by", "numa:PE=2"}), (model::BindPolicy{BindMode::kSpreadCores, 2, {}}));
  EXPECT_EQ(binding({"--map-by", "core"}), (model::BindPolicy{BindMode::kCompact, 1, {}}));
  EXPECT_EQ(binding({"--bind-to", "numa"}).mode, BindMode::kSpreadNuma);
  EXPECT_EQ(binding({"--map-by", "slot"}), model::BindPolicy{});
}

TEST(Mpirun, TheLastWordAboutPlacementCounts) {
  using model::BindMode;
  EXPECT_EQ(mpirun({"--bind-to", "core", "--process-placement", "disabled", "x"}).binding.mode,
            BindMode::kDisabled);
  EXPECT_EQ(mpirun({"--process-placement", "disabled", "--bind-to", "core", "x"}).binding.mode,
            BindMode::kCompact);
  EXPECT_EQ(poprun({"--mpi-global-args=--bind-to none", "--process-placement=compact", "x"}).binding.mode,
            BindMode::kCompact);
  EXPECT_EQ(poprun({"--process-placement=compact", "--mpi-global-args=--bind-to none", "x"}).binding.mode,
            BindMode::kDisabled);
  EXPECT_EQ(
      mpirun({"--process-placement", "disabled", "--bind-to", "core", "--mca", "plm_rsh_args", "-p 1", "x"})
          .binding.mode,
      BindMode::kCompact);
  EXPECT_EQ(mpirun({"--bind-to", "core", "--cores-per-instance", "2", "x"}).binding,
            (model::BindPolicy{BindMode::kCompact, 2, {}}));
}

TEST(Mpirun, RefusesWhatHasNoMeaningAndSaysWhatToDo) {
  const auto mistakes = [](const Arguments& words) {
    return cli::parseOptions(words, Spelling::kMpirun).mistakes;
  };
  EXPECT_THAT(mistakes({"--npersocket", "2", "x"}),
              ElementsAre("--npersocket: not supported by poprun: give the number for a host: --map-by "
                          "ppr:N:node"));
  EXPECT_THAT(mistakes({"--npernode", "0", "x"}),
              ElementsAre("--instances-per-host: '0' is not even or a number from 1"));
  for (const char* option : {"--nolocal", "-nolocal"}) {
    EXPECT_THAT(mistakes({option, "x"}),
                ElementsAre(std::string(option) + ": not supported by poprun: name the other hosts with "
                                                  "--host or --hostfile, and this one not"));
  }
  EXPECT_THAT(
      cli::parseOptions({"--mpi-global-args=--nolocal", "x"}).mistakes,
      ElementsAre(HasSubstr("--mpi-global-args: --nolocal: not supported by poprun: name the other")));
  for (const char* value : {"ppr:2:socket", "ppr:2:numa", "ppr:2", "ppr"}) {
    EXPECT_THAT(mistakes({"--map-by", value, "x"}),
                ElementsAre("--map-by: '" + std::string(value) +
                            "': poprun counts the instances of hosts only: write ppr:N:node"));
  }
  EXPECT_THAT(
      mistakes({"--map-by", "seq", "x"}),
      ElementsAre("--map-by: 'seq' is not slot, node, core, numa, socket or ppr:N:node, with or without "
                  ":PE=n"));
  EXPECT_THAT(mistakes({"--bind-to", "control block", "x"}),
              ElementsAre(HasSubstr("--bind-to: 'control block' is not none, core")));
  EXPECT_THAT(mistakes({"--map-by", "slot:PE=x", "x"}),
              ElementsAre("--cores-per-instance: 'x' is not a whole number"));
  EXPECT_THAT(mistakes({"--map-by", "slot:PE=", "x"}),
              ElementsAre("--map-by: 'PE=' is not PE=n or OVERSUBSCRIBE"));
  EXPECT_THAT(mistakes({"--frobnicate", "x"}), ElementsAre(HasSubstr("--frobnicate: no such option")));
  EXPECT_THAT(mistakes({"--mca", "a"}), ElementsAre("--mca: needs a value"));
}

TEST(Mpirun, RefusesToGoOnAfterAFailureAndToMergeOutput) {
  for (const char* option : {"--enable-recovery", "--continuous", "-disable-auto-cleanup"}) {
    const cli::ParsedOptions parsed = cli::parseOptions({option, "-np", "2", "x"}, Spelling::kMpirun);
    EXPECT_THAT(parsed.mistakes,
                ElementsAre(std::string(option) + ": not supported by poprun: the first failure ends the "
                                                  "job; --max-restarts starts it again"));
    EXPECT_THAT(parsed.warnings, IsEmpty());
  }
  EXPECT_THAT(cli::parseOptions({"--mpi-global-args=--enable-recovery", "x"}).mistakes,
              ElementsAre(HasSubstr("--mpi-global-args: --enable-recovery: not supported by poprun")));
  EXPECT_THAT(cli::parseOptions({"--merge-stderr-to-stdout", "x"}, Spelling::kMpirun).mistakes,
              ElementsAre("--merge-stderr-to-stdout: not supported by poprun: end the command line with "
                          "2>&1"));
  EXPECT_THAT(mpirun({"--disable-recovery", "x"}).programs.front().command, ElementsAre("x"))
      << "as poprun does anyway";
  EXPECT_THAT(poprun({"--mpi-global-args=--disable-recovery", "x"}).programs.front().command,
              ElementsAre("x"));
}

TEST(Mpirun, OneWarningForAllThatIsAboutMpisTransports) {
  const cli::ParsedOptions parsed = cli::parseOptions(
      {"--launch-agent", "eno1", "-prtemca", "oob", "x", "--prefix", "/opt", "-np", "2", "prog"},
      Spelling::kMpirun);
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  EXPECT_THAT(parsed.warnings,
              ElementsAre("--launch-agent, -prtemca oob, --prefix: ignored: it concerns MPI's own "
                          "network; --host-subnet chooses poprun's"));
  EXPECT_THAT(parsed.options.programs.front().command, ElementsAre("prog"));
}

TEST(Poprun, UnderstandsMpirunsLongOptions) {
  const Options options = poprun(
      {"-np", "2", "--bind-to", "none", "--mca", "a", "b", "-mca", "c", "d", "--machinefile", "f", "x"});
  EXPECT_EQ(options.binding.mode, model::BindMode::kDisabled);
  EXPECT_EQ(options.hostfile, "f");
  EXPECT_THAT(options.programs.front().environment, ElementsAre("OMPI_MCA_a=b", "OMPI_MCA_c=d"));
}

TEST(MpiArguments, AreHonouredWhereTheyHaveAMeaning) {
  const Options options = poprun(
      {"--mpi-global-args=--tag-output --timestamp-output --output-filename 'my logs' --allow-run-as-root "
       "--bind-to core --map-by socket --report-bindings",
       "--mpi-local-args", " -x A=1 -x 'B=a b' -x PATH -wdir /tmp", "--mpi-local-args=-x C", "x"});
  EXPECT_EQ(options.tag_output, TagOutput::kMpi);
  EXPECT_TRUE(options.timestamp_output && options.report_bindings);
  EXPECT_EQ(options.output_filename, "my logs");
  EXPECT_EQ(options.binding, (model::BindPolicy{model::BindMode::kSpreadCores, 1, {}}));
  EXPECT_THAT(options.programs.front().environment, ElementsAre("A=1", "B=a b", "PATH", "C"));
  EXPECT_EQ(options.programs.front().working_directory, "/tmp");
}

TEST(MpiArguments, AreForAllPrograms) {
  const Options options = poprun({"--mpi-local-args", "-x A", "-x", "B", "one", ":", "-x", "C", "two"});
  EXPECT_THAT(options.programs[0].environment, ElementsAre("A", "B"));
  EXPECT_THAT(options.programs[1].environment, ElementsAre("A", "C"));
}

TEST(MpiArguments, StandAtTheirPlaceAmongTheOtherOptions) {
  const ProgramOptions program =
      poprun({"-x", "A=1", "--wdir", "/usr", "--mpi-local-args", "-x A=2 -wdir /tmp", "-x", "A=3", "x"})
          .programs.front();
  EXPECT_THAT(program.environment, ElementsAre("A=1", "A=2", "A=3"));
  EXPECT_EQ(program.working_directory, "/tmp");
}

TEST(MpiArguments, OverrideWhatWasSaidOfEarlierPrograms) {
  const Options options = poprun(
      {"--wdir", "/usr", "one", ":", "--mpi-local-args=-wdir /tmp", "--wdir", "/etc", "two", ":", "three"});
  EXPECT_EQ(options.programs[0].working_directory, "/tmp");
  EXPECT_EQ(options.programs[1].working_directory, "/etc");
  EXPECT_EQ(options.programs[2].working_directory, "/tmp");
}

TEST(MpiArguments, MistakesInThemAreNamedOnceForAllPrograms) {
  EXPECT_THAT(cli::parseOptions({"--mpi-local-args=-x =v", "one", ":", "two"}).mistakes,
              ElementsAre(HasSubstr("-x: ")));
}

TEST(MpiArguments, OtherOptionsAreNamed) {
  EXPECT_THAT(
      cli::parseOptions({"--mpi-global-args=--npernode 2 --bogus -np 3 prog", "x"}).mistakes,
      ElementsAre(HasSubstr("--mpi-global-args: --npernode: is not supported here"),
                  HasSubstr("--mpi-global-args: --bogus: is not an option of mpirun that poprun knows"),
                  HasSubstr("--mpi-global-args: -np: is not supported here"),
                  HasSubstr("--mpi-global-args: prog: is not an option of mpirun")));
  EXPECT_THAT(cli::parseOptions({"--mpi-local-args=-x 'A", "x"}).mistakes,
              ElementsAre("--mpi-local-args: '-x 'A' has an open quote (')"));
  EXPECT_THAT(cli::parseOptions({"--mpi-local-args=-x", "x"}).mistakes,
              ElementsAre("--mpi-local-args: -x: needs a value"));
}

}  // namespace
}  // namespace pop
