// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/vipu_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace pop::popctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class VipuNames : public ::testing::Test {
 protected:
  Result<ServerSettings> settings(const std::vector<std::string>& words) {
    const Result<VipuWords> parsed = parseVipuWords(words);
    if (!parsed.ok()) return parsed.status();
    return vipuServerSettings(parsed.value(), {},
                              {.variable =
                                   [this](const char* name) {
                                     const auto at = variables_.find(name);
                                     return at == variables_.end() ? nullptr : at->second.c_str();
                                   },
                               .file = [this](const std::string& path) -> Result<std::string> {
                                 const auto at = files_.find(path);
                                 if (at == files_.end()) return Status(Code::kNotFound, "no " + path);
                                 return at->second;
                               },
                               .listens = nullptr,
                               .check_private = [this](const std::string&) { return private_; }});
  }
  std::string address(const std::vector<std::string>& words) {
    const Result<ServerSettings> found = settings(words);
    return found.ok() ? found.value().address : found.status().message();
  }

  std::map<std::string, std::string> variables_;
  std::map<std::string, std::string> files_;
  Status private_;
};

TEST_F(VipuNames, AreKnownWithTheirDirectory) {
  for (const char* name : {"vipu", "./vipu-admin", "/usr/libexec/poprun/names/vipu-cli"})
    EXPECT_TRUE(isVipuName(name)) << name;
  for (const char* name : {"popctl", "", "vipu/popctl", "vipux"}) EXPECT_FALSE(isVipuName(name)) << name;
}

TEST_F(VipuNames, GlobalOptionsMayStandAnywhere) {
  const VipuWords words = parseVipuWords({"-a", "--showjson", "list", "-H", "h", "partitions", "--api-port=9",
                                          "--api-user-id", "u", "--api-access-key=k", "--allocation", "x"})
                              .value();
  EXPECT_EQ(words.host, "h");
  EXPECT_EQ(words.port, "9");
  EXPECT_EQ(words.user_id, "u");
  EXPECT_EQ(words.access_key, "k");
  EXPECT_TRUE(words.json);
  EXPECT_THAT(words.rest, ElementsAre("list", "partitions", "--allocation", "x"));
  EXPECT_TRUE(parseVipuWords({"--server-version"}).value().server_version);
  EXPECT_EQ(parseVipuWords({"list", "--api-host"}).code(), Code::kInvalidArgument);
}

TEST_F(VipuNames, TheServerIsFoundInOrder) {
  EXPECT_EQ(address({}), "localhost:8090");
  variables_["POPDIST_SERVER"] = "daemon:1";
  EXPECT_EQ(address({}), "daemon:1");
  files_["/etc/vipu/vipu-cli.hcl"] = "# one server\napi-host=\"filed\"\napi-port = \"7\"\n";
  EXPECT_EQ(address({}), "filed:7");
  files_["mine.hcl"] = "api-host=\"mine\"\napi-user-id=\"alice\"\napi-access-key=\"k\"\n";
  EXPECT_EQ(address({"--config", "mine.hcl"}), "mine:8090");
  variables_["VIPU_CLI_API_HOST"] = "variable";
  EXPECT_EQ(address({}), "variable:8090");
  EXPECT_EQ(address({"-H", "option"}), "option:8090");
  EXPECT_EQ(address({"-H", "option", "--api-port", "6"}), "option:6");
}

TEST_F(VipuNames, AKeyGoesToTheServerItWasMadeForOnly) {
  files_["/etc/vipu/vipu-cli.hcl"] = "api-host=\"filed\"\napi-user-id=\"alice\"\napi-access-key=\"k\"\n";
  EXPECT_EQ(settings({}).value().api_user_id, "alice");
  EXPECT_EQ(settings({}).value().api_access_key, "k");
  EXPECT_EQ(settings({"-H", "filed"}).value().api_access_key, "k");
  EXPECT_EQ(settings({"-H", "other"}).value().api_access_key, "");
  EXPECT_EQ(settings({"-H", "other", "--api-access-key", "mine"}).value().api_access_key, "mine");
  variables_["VIPU_CLI_API_HOST"] = "variable";
  EXPECT_EQ(settings({}).value().api_user_id, "");
}

TEST_F(VipuNames, AKeyThatOthersCanReadIsNotUsed) {
  private_ = {Code::kPermissionDenied, "others can read it"};
  files_["/etc/vipu/vipu-cli.hcl"] = "api-host=\"filed\"\napi-user-id=\"alice\"\napi-access-key=\"k\"\n";
  EXPECT_EQ(settings({}).code(), Code::kPermissionDenied);
  EXPECT_THAT(settings({}).status().message(), HasSubstr("/etc/vipu/vipu-cli.hcl: others can read"));
  EXPECT_EQ(settings({"-H", "other"}).value().api_access_key, "");
  EXPECT_EQ(settings({"--api-access-key", "mine"}).value().api_access_key, "mine");
  files_["/etc/vipu/vipu-cli.hcl"] = "api-host=\"filed\"\n";
  EXPECT_TRUE(settings({}).ok());
}

TEST_F(VipuNames, TlsIsOnlyWhatTheVariableSays) {
  variables_["HOME"] = "/home/alice";
  files_["/home/alice/.config/popdist/popctl.conf"] = "server=daemon\ntls=/tls\n";
  EXPECT_EQ(settings({"-H", "h"}).value().tls, "");
  EXPECT_EQ(settings({}).value().tls, "/tls");
  variables_["POPDIST_TLS"] = "/other";
  EXPECT_EQ(settings({"-H", "h"}).value().tls, "/other");
}

TEST_F(VipuNames, FilesThatSaySomethingElseAreNamed) {
  files_["odd.hcl"] = "api-host=\"h\"\napi-hots=\"x\"\n";
  EXPECT_THAT(address({"--config", "odd.hcl"}), HasSubstr("odd.hcl:2"));
  EXPECT_EQ(settings({"--config", "odd.hcl"}).code(), Code::kInvalidArgument);
  EXPECT_EQ(settings({"--config", "none.hcl"}).code(), Code::kInvalidArgument);
  EXPECT_EQ(settings({"-H", "a b"}).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace pop::popctl
