// SPDX-License-Identifier: Apache-2.0
#include "popctl/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "popctl/pods/vipu_key_file.h"
#include "tests/testing/temp_dir.h"

namespace pop::popctl {
namespace {

using ::testing::HasSubstr;

class TokenFile : public ::testing::Test {
 protected:
  Result<std::string> read(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), mode);
    return readTokenFile("--token-file", path_);
  }

  const pop::testing::TempDir directory_;
  const std::string path_ = directory_.path() + "/token";
};

TEST_F(TokenFile, HasATokenOnItsFirstLine) {
  EXPECT_EQ(read("pop_abc\n").value(), "pop_abc");
  EXPECT_EQ(read("  pop_abc \nmore\n").value(), "pop_abc");
  for (const std::string text : {"", "abc\n", "pop_a b\n", "pop_a\x01\n", "\npop_abc\n"})
    EXPECT_EQ(read(text).code(), Code::kInvalidArgument) << text;
  EXPECT_EQ(read(std::string(5000, 'x')).code(), Code::kFailedPrecondition);
}

TEST_F(TokenFile, ThatOthersCanReadIsRefused) {
  for (const mode_t mode : {0640U, 0604U, 0666U}) {
    const Result<std::string> token = read("pop_abc\n", mode);
    EXPECT_EQ(token.code(), Code::kPermissionDenied) << mode;
    EXPECT_THAT(token.status().message(), HasSubstr("--token-file " + path_));
  }
  EXPECT_TRUE(read("pop_abc\n", 0400).ok());
}

TEST_F(TokenFile, ThatIsNotThereIsNamed) {
  const Result<std::string> token = readTokenFile("POPCTL_TOKEN_FILE", "/nowhere");
  EXPECT_EQ(token.code(), Code::kNotFound);
  EXPECT_THAT(token.status().message(), HasSubstr("POPCTL_TOKEN_FILE /nowhere"));
  EXPECT_FALSE(readTokenFile("--token-file", directory_.path()).ok());
}

TEST_F(TokenFile, AKeysFileIsLookedAtLikewise) {
  for (const mode_t mode : {0604U, 0644U, 0602U}) {
    EXPECT_FALSE(read("", mode).ok());
    EXPECT_EQ(checkKeyIsPrivate(path_).code(), Code::kPermissionDenied) << mode;
  }
  ::chmod(path_.c_str(), 0600);
  EXPECT_TRUE(checkKeyIsPrivate(path_).ok());
  EXPECT_FALSE(checkKeyIsPrivate("/nowhere").ok());
}

TEST(Token, IsNotSentWhereOthersCouldReadIt) {
  EXPECT_TRUE(checkSendsToken("head:8090", true).ok());
  EXPECT_TRUE(checkSendsToken("localhost:8090", false).ok());
  EXPECT_TRUE(checkSendsToken("127.0.0.1:8090", false).ok());
  EXPECT_TRUE(checkSendsToken("[::1]:8090", false).ok());
  EXPECT_TRUE(checkSendsToken("unix:/run/popdistd/popdistd.sock", false).ok());
  EXPECT_FALSE(checkSendsToken("head:8090", false).ok());
  EXPECT_FALSE(checkSendsToken("10.0.0.1:8090", false).ok());
}

}  // namespace
}  // namespace pop::popctl
