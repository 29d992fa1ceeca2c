// SPDX-License-Identifier: Apache-2.0
// Jobs that resume the TLS session of an earlier one: which do, and that those who may not are treated as
// ever.
#include <sys/stat.h>

#include <ctime>

#include "common/tls/kept_sessions.h"
#include "common/tls/session_cache.h"
#include "tests/integration/service/service_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

class ResumedJobs : public ServiceTest {
 protected:
  ResumedJobs() : ServiceTest(1) {
    writeUsers(0, "alice = nobody\neve = nobody\n");
    serve(0);
  }

  // Whether the service says so of a job of the user's, which goes well.
  bool resumes(const std::string& user = "alice") {
    const Outcome outcome = run(jobOf(user, {"-n", "1", "--tag-output", "no", "id", "-un"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "nobody\n");
    EXPECT_EQ(outcome.err, "");
    const std::string log = logOf(0).substr(seen_);
    seen_ += log.size();
    EXPECT_THAT(log, HasSubstr(": started, pid "));
    EXPECT_THAT(log, HasSubstr("of '" + user + '\''));
    return log.find(" by a resumed session: started") != std::string::npos;
  }

  std::string file() const { return cache() + "/poprun/tls/sessions"; }

  std::size_t seen_ = 0;  ///< of the service's log
};

TEST_F(ResumedJobs, AreThoseAfterTheFirst) {
  EXPECT_FALSE(resumes());
  EXPECT_TRUE(resumes());
  EXPECT_TRUE(resumes());
}

TEST_F(ResumedJobs, AreNotThoseOfOtherCertificates) {
  EXPECT_FALSE(resumes("alice"));
  EXPECT_FALSE(resumes("eve"));
  EXPECT_TRUE(resumes("alice"));
  EXPECT_TRUE(resumes("eve"));
  giveTo("alice", tls());
  EXPECT_TRUE(resumes("alice")) << "the same certificates";
  makeCertificates(tls() + "2");  // alice's of another authority, which the service believes from now on
  giveTo("alice", tls() + "2");
  installAt(0, tls() + "2");
  signalService(0, "HUP");
  ASSERT_TRUE(waitForLog(0, "reloaded the certificates"));
  EXPECT_FALSE(resumes("alice"));
}

TEST_F(ResumedJobs, EndWhenTheCertificatesAreReadAgain) {
  EXPECT_FALSE(resumes());
  signalService(0, "HUP");
  ASSERT_TRUE(waitForLog(0, "reloaded the certificates"));
  EXPECT_FALSE(resumes());
  EXPECT_TRUE(resumes());
}

// Even where its session is still good: the certificates cannot be read again.
TEST_F(ResumedJobs, AreRefusedToWhoeverIsTakenOutOfTheUsersFile) {
  EXPECT_FALSE(resumes());
  std::filesystem::remove(hosts.tmp(0) + "/tls/host.pem");
  writeUsers(0, "eve = nobody\n");
  signalService(0, "HUP");
  ASSERT_TRUE(waitForLog(0, "cannot reload the certificates"));
  const Outcome outcome = run(jobOf("alice", {"id"}));
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, HasSubstr("'alice' is not in the users file"));
  EXPECT_THAT(logOf(0), HasSubstr("of 'alice' by a resumed session: 'alice' is not in the users file"));
}

// Nobody but its user can have one, and whoever has it is that user there, whatever key he has of his own.
TEST_F(ResumedJobs, GoByAStolenSessionAsThatUser) {
  EXPECT_FALSE(resumes());
  struct stat kept {};
  ASSERT_EQ(::stat(file().c_str(), &kept), 0);
  EXPECT_EQ(kept.st_mode & 0777U, 0600U);
  PoprunSetup thief = jobOf("eve", {"-n", "1", "--tag-output", "no", "id", "-un"});
  thief.environment["XDG_CACHE_HOME"] = cache() + "-of-eve";
  const auto now = [] { return std::time(nullptr); };
  for (const tls::KeptSession& stolen : tls::readKeptSessions(file(), now()))
    tls::SessionCache(cache() + "-of-eve/poprun/tls/sessions", filesOf("eve"), now)
        .keep(stolen.service, stolen.until, stolen.secret);
  EXPECT_EQ(run(thief).out, "nobody\n");
  EXPECT_THAT(logOf(0).substr(seen_), HasSubstr("of 'alice' by a resumed session: started"));
}

TEST_F(ResumedJobs, NeedAFileThatIsWhole) {
  EXPECT_FALSE(resumes());
  std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
  damaged.seekp(100).put('?');
  damaged.close();
  EXPECT_FALSE(resumes());
  EXPECT_TRUE(resumes());
}

TEST_F(ResumedJobs, AreNoneWhereNothingCanBeKept) {
  std::filesystem::create_directories(cache());
  std::ofstream(cache() + "/poprun") << "no directory";
  EXPECT_FALSE(resumes());
  EXPECT_FALSE(resumes());
}

}  // namespace
}  // namespace pop::testing
