// SPDX-License-Identifier: Apache-2.0
#include "agent/tls/init_tls.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>

#include "common/tls/tls_files.h"
#include "tests/testing/file_text.h"
#include "tests/testing/temp_dir.h"

namespace pop::agent {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class InitTlsTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory() + '/' + name; }
  std::string directory() const { return temporary_.path() + "/tls"; }

  InitTlsResult init(std::vector<std::string> hosts, std::vector<std::string> users, bool overwrite = false) {
    return initTls({.directory = directory(), .hosts = hosts, .users = users, .overwrite = overwrite});
  }
  bool usable(const std::string& name, tls::TlsRole role) {
    return tls::loadTls({path("ca.pem"), path(name + ".pem"), path(name + "-key.pem")}, role,
                        std::time(nullptr))
        .ok();
  }
  std::string text(const std::string& name) const { return testing::fileText(path(name)); }
  mode_t mode(const std::string& name) const {
    struct stat status {};
    return ::stat(path(name).c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory())) {
      found.insert(entry.path().filename());
    }
    return found;
  }

 private:
  testing::TempDir temporary_;
};

TEST_F(InitTlsTest, MakesAllThatHostsAndUsersNeed) {
  const InitTlsResult result = init({"h[0-1],10.0.0.1"}, {"alice"});
  EXPECT_THAT(result.mistakes, IsEmpty());
  EXPECT_EQ(result.written.size(), 10U);
  EXPECT_TRUE(usable("host-h0", tls::TlsRole::kServer));
  EXPECT_TRUE(usable("host-10.0.0.1", tls::TlsRole::kServer));
  EXPECT_TRUE(usable("user-alice", tls::TlsRole::kClient));
}

TEST_F(InitTlsTest, KeepsKeysToTheOwner) {
  ASSERT_THAT(init({"h0"}, {"alice"}).mistakes, IsEmpty());
  EXPECT_EQ(mode(""), 0700U);
  for (const char* key : {"ca-key.pem", "host-h0-key.pem", "user-alice-key.pem"}) EXPECT_EQ(mode(key), 0600U);
  EXPECT_EQ(mode("ca.pem"), 0644U);
}

TEST_F(InitTlsTest, AddsHostsToAnAuthorityThatIsThere) {
  ASSERT_THAT(init({"h0"}, {}).mistakes, IsEmpty());
  const std::string authority = text("ca.pem");
  const InitTlsResult more = init({"h1"}, {"bob"});
  EXPECT_THAT(more.mistakes, IsEmpty());
  EXPECT_EQ(more.written.size(), 4U);
  EXPECT_EQ(text("ca.pem"), authority);
  EXPECT_TRUE(usable("host-h0", tls::TlsRole::kServer));
  EXPECT_TRUE(usable("host-h1", tls::TlsRole::kServer));
}

TEST_F(InitTlsTest, KeepsWhatIsThereAndMakesWhatIsMissing) {
  ASSERT_THAT(init({"h[0-1]"}, {"alice"}).mistakes, IsEmpty());
  const std::string key = text("host-h0-key.pem");
  const InitTlsResult more = init({"h[0-1]"}, {"alice", "carol"});
  EXPECT_THAT(more.mistakes, IsEmpty());
  EXPECT_THAT(more.written, ElementsAre(path("user-carol.pem"), path("user-carol-key.pem")));
  EXPECT_THAT(more.kept,
              ElementsAre(path("host-h0.pem"), path("host-h0-key.pem"), path("host-h1.pem"),
                          path("host-h1-key.pem"), path("user-alice.pem"), path("user-alice-key.pem")));
  EXPECT_EQ(text("host-h0-key.pem"), key);
  EXPECT_TRUE(usable("user-carol", tls::TlsRole::kClient));
}

TEST_F(InitTlsTest, OverwritesOnlyWhenAskedToAndNeverTheAuthority) {
  ASSERT_THAT(init({"h0"}, {}).mistakes, IsEmpty());
  const std::string authority = text("ca-key.pem"), key = text("host-h0-key.pem");
  EXPECT_THAT(init({"h0,h1"}, {}, true).mistakes, IsEmpty());
  EXPECT_NE(text("host-h0-key.pem"), key);
  EXPECT_EQ(text("ca-key.pem"), authority);
}

TEST_F(InitTlsTest, DoesNotKeepWhatCannotBeUsed) {
  ASSERT_THAT(init({"h0"}, {}).mistakes, IsEmpty());
  std::filesystem::remove(path("host-h0-key.pem"));
  EXPECT_THAT(init({"h0,h1"}, {}).mistakes,
              ElementsAre(AllOf(HasSubstr(path("host-h0.pem") + " is there, and cannot be used: "),
                                HasSubstr("host-h0-key.pem: No such file"), HasSubstr("--overwrite"))));
  EXPECT_FALSE(std::filesystem::exists(path("host-h1.pem")));
  EXPECT_THAT(init({"h0,h1"}, {}, true).mistakes, IsEmpty());
  EXPECT_TRUE(usable("host-h0", tls::TlsRole::kServer));
}

TEST_F(InitTlsTest, WantsToKnowForWhom) {
  EXPECT_THAT(init({}, {}).mistakes, ElementsAre(AllOf(HasSubstr("--host"), HasSubstr("--user"))));
  EXPECT_FALSE(std::filesystem::exists(directory()));
}

TEST_F(InitTlsTest, SaysAllThatIsWrongAtOnceAndMakesNothing) {
  const InitTlsResult result = initTls({.directory = directory(),
                                        .hosts = {"h[0-", "h1:2", "a+b c"},
                                        .users = {"al ice", "x,x"},
                                        .valid_days = 0});
  EXPECT_THAT(result.mistakes, ElementsAre(HasSubstr("--host: "), HasSubstr("no slots"),
                                           HasSubstr("'b c' is neither"), HasSubstr("--user: 'al ice'"),
                                           HasSubstr("'x' is given more than once"), HasSubstr("--days 0")));
  EXPECT_FALSE(std::filesystem::exists(directory()));
}

TEST_F(InitTlsTest, RefusesADirectoryWhereOthersCanWrite) {
  std::filesystem::create_directory(directory());
  ASSERT_EQ(::chmod(directory().c_str(), 0777), 0);
  EXPECT_THAT(init({"h0"}, {}).mistakes, ElementsAre(HasSubstr("can be written by others")));
}

// A directory that is missing at the look and there at its creation: a link to nowhere, or another process
// was quicker.
TEST_F(InitTlsTest, LooksAtADirectoryThatItHasNotMade) {
  std::filesystem::create_symlink("nowhere", directory());
  EXPECT_THAT(init({"h0"}, {}).mistakes, ElementsAre("--dir " + directory() + ": No such file or directory"));
}

TEST_F(InitTlsTest, RefusesADirectoryOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give directories away";
  ASSERT_THAT(init({"h0"}, {}).mistakes, IsEmpty());
  ASSERT_EQ(::chown(directory().c_str(), 1234, 1234), 0);
  EXPECT_THAT(
      init({"h1"}, {}).mistakes,
      ElementsAre("--dir " + directory() + " belongs to user 1234: it must belong to this user or root"));
  EXPECT_FALSE(std::filesystem::exists(path("host-h1.pem")));
}

TEST_F(InitTlsTest, RefusesAnAuthorityWithoutItsKey) {
  ASSERT_THAT(init({"h1"}, {}).mistakes, IsEmpty());
  std::filesystem::remove(path("ca-key.pem"));
  EXPECT_THAT(init({"h0"}, {}).mistakes, ElementsAre(HasSubstr("ca-key.pem: No such file")));
}

// A full disk: writing fails in the middle.
TEST_F(InitTlsTest, LeavesNothingHalfMade) {
  ASSERT_THAT(init({"h0"}, {}).mistakes, IsEmpty());
  const std::set<std::string> before = names();
  rlimit original{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &original), 0);
  const rlimit small{300, original.rlim_max};  // keys are shorter, certificates longer
  ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const InitTlsResult failed = init({"h1"}, {});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &original), 0);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_THAT(failed.mistakes, ElementsAre(AllOf(HasSubstr("host-h1.pem"), HasSubstr("File too large"))));
  EXPECT_THAT(failed.written, IsEmpty());
  EXPECT_EQ(names(), before);
}

TEST(CertificateHosts, AreReadAsHostListsAndAsNamesOfOneHost) {
  EXPECT_THAT(certificateHosts("n[0-1,3],h2+h2.example+10.0.0.2,fd00::1").value(),
              ElementsAre(ElementsAre("n0"), ElementsAre("n1"), ElementsAre("n3"),
                          ElementsAre("h2", "h2.example", "10.0.0.2"), ElementsAre("fd00::1")));
}

TEST_F(InitTlsTest, MakesAnIssuerOnceAndKeepsIt) {
  const InitTlsRequest request{.directory = directory(), .issuer = true};
  EXPECT_THAT(initTls(request).mistakes, IsEmpty());
  EXPECT_TRUE(usable("issuer", tls::TlsRole::kAuthority));
  EXPECT_EQ(mode("issuer-key.pem"), 0600U);
  EXPECT_EQ(initTls(request).kept.size(), 2U);
}

// A writer of etcd is every user's admin, so hosts' and users' authority signs no certificate there.
TEST_F(InitTlsTest, EtcdHasAnAuthorityAndADirectoryOfItsOwn) {
  const InitTlsRequest etcd{.directory = directory(), .etcd = {"head[1-2]"}};
  EXPECT_THAT(initTls(etcd).mistakes, IsEmpty());
  EXPECT_TRUE(usable("host-head2", tls::TlsRole::kServer));
  EXPECT_EQ(initTls(etcd).kept.size(), 4U);
  EXPECT_THAT(init({"h0"}, {}).mistakes, ElementsAre(HasSubstr("authority of etcd")));
  EXPECT_THAT(init({}, {"alice"}).mistakes, ElementsAre(HasSubstr("authority of etcd")));
  EXPECT_THAT(initTls({.directory = directory(), .issuer = true}).mistakes,
              ElementsAre(HasSubstr("authority of etcd")));
  const std::string users = path("users");
  EXPECT_THAT(initTls({.directory = users, .hosts = {"head1"}}).mistakes, IsEmpty());
  EXPECT_THAT(initTls({.directory = users, .etcd = {"head1"}}).mistakes,
              ElementsAre(HasSubstr("hosts and users")));
  EXPECT_THAT(initTls({.directory = users, .hosts = {"h0"}, .etcd = {"head1"}}).mistakes,
              ElementsAre(HasSubstr("--etcd")));
}

}  // namespace
}  // namespace pop::agent
