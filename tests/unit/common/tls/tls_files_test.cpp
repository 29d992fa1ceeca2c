// SPDX-License-Identifier: Apache-2.0
// The error for each mistake in TLS files, with real certificates and a clock of the test's own.
#include "common/tls/tls_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "common/os/helper_run.h"
#include "common/sys/account_name.h"
#include "common/sys/fd.h"
#include "common/tls/certificates.h"
#include "common/tls/user_tls.h"
#include "tests/testing/temp_dir.h"

namespace pop::tls {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::time_t kDaySeconds = 24L * 60 * 60;

class TlsFilesTest : public ::testing::Test {
 protected:
  TlsFilesTest() {
    const KeyPair authority = makeAuthority(1000).value();
    write("ca.pem", authority.certificate_pem, 0644);
    writePair("host", makeHostCertificate(authority, {"h0", "10.0.0.1"}, 100).value());
    writePair("user", makeUserCertificate(authority, "alice", 100).value());
  }

  void write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    std::ofstream(path(name)) << text;
    ASSERT_EQ(::chmod(path(name).c_str(), mode), 0);
  }
  void writePair(const std::string& name, const KeyPair& pair) {
    write(name + ".pem", pair.certificate_pem, 0644);
    write(name + "-key.pem", pair.key_pem);
  }
  std::string path(const std::string& name) const { return directory_.path() + '/' + name; }

  Result<tls::TlsFiles> load(const std::string& who = "host", tls::TlsRole role = tls::TlsRole::kServer,
                             long days_later = 0) {
    return tls::loadTls({path("ca.pem"), path(who + ".pem"), path(who + "-key.pem")}, role,
                        std::time(nullptr) + days_later * kDaySeconds);
  }
  std::string mistakesOf(const Result<tls::TlsFiles>& result) {
    return result.ok() ? "nothing is wrong" : result.status().message();
  }

 private:
  testing::TempDir directory_;
};

TEST_F(TlsFilesTest, OfAHostAndOfAUserAreGood) {
  const Result<tls::TlsFiles> host = load();
  ASSERT_TRUE(host.ok()) << host.status().message();
  EXPECT_THAT(host.value().key_pem, HasSubstr("PRIVATE KEY"));
  EXPECT_THAT(host.value().warnings, IsEmpty());
  EXPECT_TRUE(load("user", tls::TlsRole::kClient).ok());
}

TEST_F(TlsFilesTest, ThatAreMissingAreAllNamed) {
  std::filesystem::remove(path("ca.pem"));
  std::filesystem::remove(path("host-key.pem"));
  EXPECT_THAT(mistakesOf(load()), AllOf(HasSubstr(path("ca.pem") + ": No such file"),
                                        HasSubstr(path("host-key.pem") + ": No such file")));
  EXPECT_THAT(mistakesOf(tls::loadTls({}, tls::TlsRole::kServer, 0)),
              HasSubstr("no path is given for the key"));
}

TEST_F(TlsFilesTest, OfOthersCannotBeTakenForOurs) {
  EXPECT_THAT(mistakesOf(load("user", tls::TlsRole::kServer)),
              HasSubstr("user.pem is not a host's certificate"));
  EXPECT_THAT(mistakesOf(load("host", tls::TlsRole::kClient)),
              HasSubstr("host.pem is not a user's certificate"));
  EXPECT_THAT(mistakesOf(load("host", tls::TlsRole::kAuthority)),
              HasSubstr("not an authority's certificate"));
}

// cron, units and containers have no USER.
TEST_F(TlsFilesTest, OfTheAccountAreTakenWithoutUser) {
  const std::string account = sys::accountName(::geteuid()).value();
  const testing::TempDir directory;
  for (const char* const user : {"", "set and empty"}) {
    if (*user == '\0')
      ::unsetenv("USER");
    else
      ::setenv("USER", "", 1);
    EXPECT_EQ(tls::loadUserTls("--tls", directory.path()).status().message(),
              "--tls " + directory.path() + ": it contains no user-" + account +
                  ".pem, but 0 pairs of other users");
  }
  for (const std::string& name : {account, std::string("zoe"), std::string("abe")}) {
    for (const char* const end : {".pem", "-key.pem"})
      std::filesystem::copy_file(path(std::string("user") + end), directory / ("user-" + name + end));
  }
  std::filesystem::copy_file(path("ca.pem"), directory / "ca.pem");
  ::unsetenv("USER");
  EXPECT_TRUE(tls::loadUserTls("--tls", directory.path()).ok());
  std::filesystem::remove(directory / ("user-" + account + ".pem"));
  EXPECT_THAT(tls::loadUserTls("--tls", directory.path()).status().message(),
              HasSubstr("no user-" + account + ".pem, but 2 pairs of other users"));
}

TEST_F(TlsFilesTest, WithAKeyThatOthersCanReadAreRefused) {
  ASSERT_EQ(::chmod(path("host-key.pem").c_str(), 0640), 0);
  EXPECT_THAT(mistakesOf(load()), HasSubstr("host-key.pem is open to others (mode 0640): chmod 600"));
}

// A user who can replace the authority's file is the authority of that host.
TEST_F(TlsFilesTest, OfAHostWhoseAuthorityOthersCanReplaceAreRefused) {
  ASSERT_EQ(::chmod(path("ca.pem").c_str(), 0664), 0);
  EXPECT_EQ(mistakesOf(load()), path("ca.pem") + " can be written by others: chmod go-w it");
  EXPECT_TRUE(load("user", tls::TlsRole::kClient).ok()) << "a user's own affair";
  ASSERT_EQ(::chmod(path("ca.pem").c_str(), 0644), 0);
  ASSERT_EQ(::chmod(path("").c_str(), 0775), 0);
  EXPECT_THAT(mistakesOf(load()), HasSubstr(path("ca.pem") + " can be replaced by others"));
}

// The file that is read is the file that is checked, whatever happens to its name meanwhile.
TEST_F(TlsFilesTest, OfAHostAreLookedAtAsTheyAreRead) {
  for (const char* file : {"ca.pem", "host-key.pem"}) {
    const std::string safe = path(std::string(file) + ".safe");
    std::filesystem::rename(path(file), safe);
    const std::string text = sys::readFile(safe).value();
    ASSERT_EQ(::mkfifo(path(file).c_str(), 0600), 0);
    ASSERT_EQ(::chmod(path(file).c_str(), 0666), 0);
    std::thread writer([&] {
      std::ofstream theirs(path(file));  // once it is open on the other side
      theirs << text << std::flush;
      std::filesystem::rename(safe, path(file));
    });
    EXPECT_THAT(mistakesOf(load()), HasSubstr(path(file))) << "it was open to others";
    writer.join();
    EXPECT_EQ(mistakesOf(load()), "nothing is wrong") << "what has taken its place";
  }
}

TEST_F(TlsFilesTest, OfAHostWhoseAuthorityBelongsToSomebodyElseAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(path("ca.pem").c_str(), 1234, 1234), 0);
  EXPECT_EQ(mistakesOf(load()),
            path("ca.pem") + " belongs to user 1234: it must belong to this user or root");
  EXPECT_TRUE(load("user", tls::TlsRole::kClient).ok()) << "a user's own affair";
}

TEST_F(TlsFilesTest, WithAnothersKeyAreRefused) {
  std::filesystem::copy_file(path("user-key.pem"), path("host-key.pem"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(mistakesOf(load()), HasSubstr("host-key.pem is not the key of " + path("host.pem")));
}

TEST_F(TlsFilesTest, OutOfTheirDatesNameTheDateAndTheClock) {
  EXPECT_THAT(
      mistakesOf(load("host", tls::TlsRole::kServer, 101)),
      AllOf(HasSubstr("host.pem expired on "), HasSubstr("clock says"), Not(HasSubstr("ca.pem expired"))));
  EXPECT_THAT(mistakesOf(load("host", tls::TlsRole::kServer, -30)),
              AllOf(HasSubstr("host.pem is not valid before "), HasSubstr("set the clock")));
}

TEST_F(TlsFilesTest, AllowClocksToDifferByHours) {
  const Result<tls::TlsFiles> early =
      tls::loadTls({path("ca.pem"), path("host.pem"), path("host-key.pem")}, tls::TlsRole::kServer,
                   std::time(nullptr) - kDaySeconds + 3600);
  EXPECT_TRUE(early.ok()) << early.status().message();
}

TEST_F(TlsFilesTest, ThatExpireSoonAreWarnedOf) {
  const Result<tls::TlsFiles> files = load("host", tls::TlsRole::kServer, 90);
  ASSERT_TRUE(files.ok()) << files.status().message();
  EXPECT_THAT(files.value().warnings, ::testing::ElementsAre(HasSubstr("host.pem expires soon, on ")));
}

TEST_F(TlsFilesTest, OfAnotherAuthorityAreRefused) {
  write("ca.pem", makeAuthority(10).value().certificate_pem);
  EXPECT_THAT(mistakesOf(load()), HasSubstr("host.pem is not signed by " + path("ca.pem")));
}

// Both authorities are in ca.pem while one takes the place of the other.
TEST_F(TlsFilesTest, OfAnyAuthorityAreGood) {
  const std::string ours = sys::readFile(path("ca.pem")).value();
  const std::string short_lived = makeAuthority(10).value().certificate_pem;
  for (const std::string& both : {short_lived + ours, ours + short_lived}) {
    write("ca.pem", both, 0644);
    EXPECT_EQ(mistakesOf(load()), "nothing is wrong");
    EXPECT_EQ(mistakesOf(load("host", tls::TlsRole::kServer, 50)), "nothing is wrong") << "one has expired";
  }
}

TEST_F(TlsFilesTest, OfAnAuthorityThatHasExpiredAreRefused) {
  const KeyPair short_lived = makeAuthority(10).value();
  writePair("host", makeHostCertificate(short_lived, {"h0"}, 100).value());
  write("ca.pem", sys::readFile(path("ca.pem")).value() + short_lived.certificate_pem, 0644);
  EXPECT_EQ(mistakesOf(load()), "nothing is wrong");
  EXPECT_THAT(mistakesOf(load("host", tls::TlsRole::kServer, 50)),
              HasSubstr(path("ca.pem") + " expired on "));
}

// An authority of an authority's: hosts and users have its certificate in the file of their own.
TEST_F(TlsFilesTest, OfAnAuthorityThatAnotherHasSignedAreGood) {
  const std::string make =
      "cd " + path("") +
      " && printf 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\nsubjectKeyIdentifier=hash\n' "
      ">ca.ext"
      " && new='openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'"
      " && $new -x509 -days 1000 -subj /CN=root -keyout root-key.pem -out ca.pem"
      " && $new -subj /CN=between -keyout between-key.pem -out between.csr"
      " && openssl x509 -req -in between.csr -CA ca.pem -CAkey root-key.pem -days 50 -extfile ca.ext"
      " -out between.pem";
  ASSERT_TRUE(os::outputOf({"sh", "-c", make}, std::chrono::seconds(20)).ok());
  const KeyPair between{sys::readFile(path("between.pem")).value(),
                        sys::readFile(path("between-key.pem")).value()};
  KeyPair host = makeHostCertificate(between, {"h0"}, 100).value();
  writePair("host", host);
  EXPECT_THAT(mistakesOf(load()), HasSubstr("host.pem is not signed by " + path("ca.pem")));
  host.certificate_pem += between.certificate_pem;
  writePair("host", host);
  EXPECT_EQ(mistakesOf(load()), "nothing is wrong");
  EXPECT_THAT(load("host", tls::TlsRole::kServer, 40).value().warnings,
              ::testing::ElementsAre(HasSubstr("host.pem expires soon, on ")));
  EXPECT_THAT(mistakesOf(load("host", tls::TlsRole::kServer, 60)), HasSubstr("host.pem expired on "));
}

TEST_F(TlsFilesTest, ThatHoldSomethingElseAreNamed) {
  write("host.pem", "hello");
  write("host-key.pem", "");
  EXPECT_THAT(mistakesOf(load()), AllOf(HasSubstr("host.pem holds no certificate in PEM form"),
                                        HasSubstr("host-key.pem is empty")));
  write("host-key.pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
  EXPECT_THAT(mistakesOf(load()), HasSubstr("host-key.pem has a passphrase"));
}

}  // namespace
}  // namespace pop::tls
