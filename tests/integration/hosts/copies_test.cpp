// SPDX-License-Identifier: Apache-2.0
// Copies of programs and files on other hosts before a job, over real ssh and rsync. Each host has a /tmp of
// its own.
#include <filesystem>
#include <fstream>

#include "tests/integration/hosts/hosts_fixture.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CopiesToHosts : public HostsTest {
 protected:
  CopiesToHosts() { std::ofstream(directory_.path() + "/data") << "the data\n"; }
  std::string data() const { return directory_.path() + "/data"; }

  PoprunSetup readingJob(std::vector<std::string> options) const {
    options.insert(options.end(), {"-n", "3", "--tag-output", "no", "cat", data()});
    return job(options);
  }

 private:
  TempDir directory_;
};

TEST_F(CopiesToHosts, ArriveBeforeTheProgramStarts) {
  EXPECT_NE(run(readingJob({})).exit_code, 0);
  const Outcome outcome = run(readingJob({"--synchronise", data()}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "the data\nthe data\nthe data\n");
  EXPECT_THAT(outcome.err, HasSubstr("(3 of 3 hosts)"));
  EXPECT_EQ(leftOnHosts(), "");
}

TEST_F(CopiesToHosts, ThatFailAreReportedTogetherAndNothingStarts) {
  std::ofstream(hosts.bin(1) + "/rsync") << "#!/bin/sh\necho 'sh: rsync: not found' >&2; exit 127\n";
  std::filesystem::permissions(hosts.bin(1) + "/rsync", std::filesystem::perms(0755));
  hosts.killSshd(2);
  const Outcome outcome = run(readingJob({"--synchronise", data()}));
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("poprun: h1: rsync is not installed there"),
                                 HasSubstr("poprun: h2: the remote shell failed: ssh: connect to host"),
                                 HasSubstr("Connection refused"), Not(HasSubstr("poprun: h0: the"))));
}

TEST_F(CopiesToHosts, NeedNoPasswordWhereTheKeyIsAccepted) {
  const Outcome outcome = run(readingJob({"--distribute-ssh-key", "--synchronise", data()}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(CopiesToHosts, WithAKeyThatIsRefusedSayWhatToRun) {
  std::ofstream(hosts.clientHome() + "/.ssh/id_ed25519.pub", std::ios::app).close();
  std::filesystem::remove(hosts.home(1) + "/.ssh/authorized_keys");
  PoprunSetup setup = readingJob({"--distribute-ssh-key"});
  setup.environment["HOME"] = hosts.clientHome();
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("poprun: h1: "), HasSubstr("Permission denied"),
                                 HasSubstr("no terminal to ask for a password: run ssh-copy-id -F")));
}

}  // namespace
}  // namespace pop::testing
