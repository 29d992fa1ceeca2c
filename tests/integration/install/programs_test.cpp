// SPDX-License-Identifier: Apache-2.0
// Installed programs find each other, and what else belongs to them.
#include <gmock/gmock.h>

#include <filesystem>

#include "common/sys/fd.h"
#include "tests/integration/install/installation.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

TEST(InstalledPrograms, FindEachOther) {
  const Installation installed;
  const Outcome doctor = run(installed.job({"doctor"}));
  EXPECT_EQ(doctor.exit_code, 0) << doctor.err;
  EXPECT_THAT(doctor.out, HasSubstr('(' + installed.prefix() + "/bin/popdist-agent)"));

  const PoprunSetup bound = installed.job({"--process-placement", "spreadcores", "true"});
  EXPECT_EQ(run(bound).exit_code, 0) << "needs popdist-topology";
  std::filesystem::remove(installed.prefix() + "/libexec/poprun/popdist-topology");
  EXPECT_NE(run(bound).exit_code, 0) << "has found another one";
}

// The kernel keeps the memory of an unreadable program private from its first instruction on.
TEST(InstalledPrograms, ThatGetKeysCanBeExecutedAndNotRead) {
  using std::filesystem::perms;
  const Installation installed;
  const auto modeOf = [&](const char* program) {
    return std::filesystem::status(installed.prefix() + '/' + program).permissions() & perms::mask;
  };
  const perms executed = perms::owner_all | perms::group_exec | perms::others_exec;
  for (const char* program :
       {"bin/popctl", "bin/popdistd", "libexec/poprun/popdist-agent-service", "libexec/poprun/popdist-join",
        "libexec/poprun/popdist-runner", "libexec/poprun/poprun-daemon"})
    EXPECT_EQ(modeOf(program), executed) << program;
  for (const char* program : {"bin/poprun", "bin/popdist-agent"})
    EXPECT_EQ(modeOf(program), executed | perms::group_read | perms::others_read) << program;
  EXPECT_TRUE(std::filesystem::exists(installed.prefix() + "/lib/sysusers.d/popdist.conf"));
}

TEST(InstalledPrograms, HaveTheNamesOfOtherLaunchersWhereTheyHideNone) {
  const Installation installed;
  PoprunSetup job = installed.job({"-n", "2", "uname"});
  for (const char* name : {"mpirun", "mpiexec", "orterun", "horovodrun", "mpiexec.hydra"}) {
    EXPECT_FALSE(std::filesystem::exists(installed.prefix() + "/bin/" + name)) << name;
    job.program = installed.prefix() + "/libexec/poprun/names/" + name;
    const Outcome outcome = run(job);
    EXPECT_EQ(outcome.exit_code, 0) << name << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("Linux")) << name;
  }
}

#ifdef OPENMPI_CHILD_PATH
TEST(InstalledPrograms, FindTheOneThatServesOpenMpi) {
  const Installation installed;
  const PoprunSetup job = installed.job({"-np", "2", OPENMPI_CHILD_PATH, "hello"});
  const Outcome served = run(job);
  EXPECT_EQ(served.exit_code, 0) << served.err;
  EXPECT_THAT(served.out, HasSubstr("rank 1 of 2"));
  std::filesystem::remove(installed.prefix() + "/libexec/poprun/popdist-pmix");
  EXPECT_THAT(run(job).err, HasSubstr("speaks PMIx, which needs popdist-pmix"));
}
#endif

TEST(InstalledPrograms, FindInstalledBackends) {
  const Installation installed;
  PoprunSetup job = installed.job({"popdist-algorithms"});
  job.environment["POPDIST_BACKEND"] = "grpc";
  EXPECT_THAT(run(job).err, HasSubstr("communicators run on the backend 'grpc'"));
}

TEST(InstalledPages, HaveNoBrokenLinks) {
  const Installation installed;
  const std::string pages = installed.prefix() + "/" DOCUMENTATION_DIRECTORY;
  EXPECT_EQ(installed.failure({"sh", "-c", POP_SOURCE_DIR "/scripts/check_links \"$1\" >&2", "sh", pages}),
            "");
  for (const char* page : {"README.md", "docs/guide/agent_service.md", "docs/reference/exit_codes.md"})
    EXPECT_TRUE(std::filesystem::exists(pages + '/' + page)) << page;
}

TEST(InstalledPages, AreFoundByManAndShells) {
  const Installation installed;
  for (const char* file : {"man/man1/poprun.1", "man/man1/popdist-agent.1", "man/man1/popdist-algorithms.1",
                           "man/man1/popdist-data.1", "bash-completion/completions/poprun",
                           "zsh/site-functions/_poprun", "fish/vendor_completions.d/poprun.fish"})
    EXPECT_TRUE(std::filesystem::exists(installed.prefix() + "/share/" + file)) << file;
}

TEST(InstalledUnit, NamesTheInstalledAgent) {
  const Installation installed;
  const Result<std::string> unit =
      sys::readFile(installed.prefix() + "/lib/systemd/system/popdist-agent.service");
  ASSERT_TRUE(unit.ok()) << unit.status().message();
  EXPECT_THAT(unit.value(), HasSubstr("\nExecStart=\"" + installed.prefix() + "/bin/popdist-agent\" serve "));
}

}  // namespace
}  // namespace pop::testing
