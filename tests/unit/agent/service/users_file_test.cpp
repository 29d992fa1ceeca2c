// SPDX-License-Identifier: Apache-2.0
#include "agent/service/users_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "common/base/text.h"
#include "tests/testing/golden.h"
#include "tests/testing/temp_dir.h"

namespace pop::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<UnixUser> lookUp(const std::string& name) {
  if (name == "root" || name == "toor") return UnixUser{name, 0, 0, "/root", "/bin/sh"};
  if (name == "alice") return UnixUser{name, 1000, 1000, "/home/alice", "/bin/sh"};
  if (name == "runner") return UnixUser{name, 1001, 1001, "/srv", "/bin/sh"};
  return Status(Code::kNotFound, "this host has no user '" + name + "'");
}

ParsedUsers parse(const std::string& text) {
  return parseUsers(text, "users", lookUp);
}

TEST(UsersFile, MapsNamesToUsersWithLimits) {
  const ParsedUsers parsed = parse(
      "# who may\n"
      "alice = alice\n"
      "\n"
      "ci=runner jobs=4 instances=256  # builds\n"
      "bob@example =alice instances=8\n"
      "limits jobs=16 instances=1024\n");
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  ASSERT_EQ(parsed.users.users.size(), 3U);
  EXPECT_EQ(parsed.users.users.at("alice").user.uid, 1000U);
  EXPECT_EQ(parsed.users.users.at("alice").limits, (JobLimits{0, 0}));
  EXPECT_EQ(parsed.users.users.at("ci").user.name, "runner");
  EXPECT_EQ(parsed.users.users.at("ci").limits, (JobLimits{4, 256}));
  EXPECT_EQ(parsed.users.users.at("bob@example").limits, (JobLimits{0, 8}));
  EXPECT_EQ(parsed.users.limits, (JobLimits{16, 1024}));
}

TEST(UsersFile, ThatIsEmptyAllowsNobody) {
  const ParsedUsers parsed = parse("# nobody yet\n");
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  EXPECT_THAT(parsed.users.users, IsEmpty());
}

constexpr const char* kManyMistakes =
    "alice\n"
    "alice = alice\n"
    "alice = nosuch\n"
    "* = *\n"
    "ci = runner jobs=0 cpus=3 instances=\n"
    "limits\n"
    "limits jobs=2 jobs=3\n"
    "= alice\n";

TEST(UsersFile, SaysAllItsMistakesWithTheirLines) {
  EXPECT_THAT(
      parse(kManyMistakes).mistakes,
      ElementsAre(HasSubstr("users:1: 'alice'"), HasSubstr("users:3: 'alice'"),
                  HasSubstr("users:3: this host has no user 'nosuch'"), HasSubstr("users:4: '*'"),
                  HasSubstr("users:5: jobs=0"), HasSubstr("users:5: 'cpus=3'"),
                  HasSubstr("users:5: instances="), HasSubstr("users:6: 'limits'"),
                  HasSubstr("users:7: limits"), HasSubstr("users:7: jobs"), HasSubstr("users:8: '='")));
}

TEST(UsersFile, MistakesReadAsIntended) {
  EXPECT_EQ(join(parse(kManyMistakes).mistakes, "\n") + '\n', testing::golden("errors/users_file.txt"));
}

TEST(UsersFile, LetsANameBeRootOnlyWhenItSaysRoot) {
  EXPECT_THAT(parse("admin = root\n").mistakes, IsEmpty());
  EXPECT_THAT(parse("admin = toor\n").mistakes, ElementsAre(HasSubstr("'toor' is root by another name")));
}

TEST(UsersFile, TakesANameThatIsCalledLimits) {
  const ParsedUsers parsed = parse("limits = alice jobs=1\n");
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  EXPECT_EQ(parsed.users.users.at("limits").limits.jobs, 1);
}

TEST(UsersFile, ThatOthersCanWriteIsRefused) {
  const testing::TempDir directory;
  const std::string path = directory.path() + "/users";
  std::ofstream(path) << "alice = alice\n";
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_THAT(loadUsers(path, lookUp).mistakes, IsEmpty());
  ASSERT_EQ(::chmod(path.c_str(), 0664), 0);
  EXPECT_THAT(loadUsers(path, lookUp).mistakes, ElementsAre(HasSubstr("can be written by others")));
  EXPECT_THAT(loadUsers(path + "x", lookUp).mistakes, ElementsAre(HasSubstr("No such file")));
}

TEST(UsersFile, ThatOthersCanReplaceIsRefused) {
  const testing::TempDir directory;
  const std::string path = directory.path() + "/users";
  std::ofstream(path) << "alice = alice\n";
  ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
  EXPECT_THAT(loadUsers(path, lookUp).mistakes,
              ElementsAre(path + " can be replaced by others, who can write in its directory: chmod go-w " +
                          directory.path()));
  ASSERT_EQ(::chmod(directory.path().c_str(), 01777), 0);
  EXPECT_THAT(loadUsers(path, lookUp).mistakes, IsEmpty())
      << "as in /tmp, owners alone remove what is theirs";
}

TEST(UsersFile, OfSomebodyElseIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const testing::TempDir directory;
  const std::string path = directory.path() + "/users";
  std::ofstream(path) << "alice = alice\n";
  ASSERT_EQ(::chown(path.c_str(), 1234, 1234), 0);
  EXPECT_THAT(loadUsers(path, lookUp).mistakes, ElementsAre(HasSubstr("belongs to user 1234")));
}

TEST(LookUpUser, FindsThoseOfThisHost) {
  EXPECT_EQ(lookUpUser("root").value().uid, 0U);
  EXPECT_EQ(lookUpUser(uid_t{0}).value().name, "root");
  EXPECT_EQ(lookUpUser("no-such-user").status().message(), "this host has no user 'no-such-user'");
}

}  // namespace
}  // namespace pop::agent
