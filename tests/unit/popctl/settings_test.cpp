// SPDX-License-Identifier: Apache-2.0
#include "popctl/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace pop::popctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct World {
  std::map<std::string, std::string> variables{{"HOME", "/home/a"}};
  std::map<std::string, std::string> files;

  Surroundings here() const {
    return {.variable =
                [this](const char* name) {
                  const auto at = variables.find(name);
                  return at == variables.end() ? nullptr : at->second.c_str();
                },
            .file = [this](const std::string& path) -> Result<std::string> {
              const auto at = files.find(path);
              if (at == files.end()) return Status(Code::kNotFound, path);
              return at->second;
            }};
  }
};

const char* const kUsers = "/home/a/.config/popdist/popctl.conf";
const char* const kSystems = "/etc/popdist/popctl.conf";

TEST(ServerSettings, DefaultToThisHost) {
  const World world;
  const ServerSettings settings = serverSettings({}, world.here()).value();
  EXPECT_EQ(settings.address, "localhost:8090");
  EXPECT_EQ(settings.tls, "");
}

TEST(ServerSettings, TakeEachValueFromTheNearestSource) {
  World world;
  world.files[kSystems] = "server=system:1\ntls=/system\n";
  EXPECT_EQ(serverSettings({}, world.here()).value().address, "system:1");
  world.files[kUsers] = "# mine\n\n  server = user:2 \n";
  EXPECT_EQ(serverSettings({}, world.here()).value().address, "user:2");
  EXPECT_EQ(serverSettings({}, world.here()).value().tls, "/system");
  EXPECT_EQ(serverSettings({}, world.here()).value().tls_option, std::string(kSystems) + ":2");
  world.variables["POPDIST_SERVER"] = "variable:3";
  world.variables["POPDIST_TLS"] = "";
  EXPECT_EQ(serverSettings({}, world.here()).value().address, "variable:3");
  CommonOptions options;
  options.server = "option:4";
  options.tls = "/option";
  EXPECT_EQ(serverSettings(options, world.here()).value().address, "option:4");
  EXPECT_EQ(serverSettings(options, world.here()).value().tls, "/option");
}

TEST(ServerSettings, FilesAreTheUsersAndTheSystems) {
  World world;
  EXPECT_THAT(configFiles(world.here()), ElementsAre(kUsers, kSystems));
  world.variables["XDG_CONFIG_HOME"] = "/config";
  EXPECT_THAT(configFiles(world.here()), ElementsAre("/config/popdist/popctl.conf", kSystems));
}

TEST(ServerSettings, AddressesHaveTheUsualPortIfTheyHaveNone) {
  const World world;
  const auto addressOf = [&world](const char* text) {
    CommonOptions options;
    options.server = text;
    const Result<ServerSettings> settings = serverSettings(options, world.here());
    return settings.ok() ? settings.value().address : "";
  };
  EXPECT_EQ(addressOf("head"), "head:8090");
  EXPECT_EQ(addressOf("10.0.0.1:1"), "10.0.0.1:1");
  EXPECT_EQ(addressOf("[::1]"), "[::1]:8090");
  EXPECT_EQ(addressOf("[::1]:7"), "[::1]:7");
  for (const char* odd : {":1", "h:", "h:x", "h:0", "h:65536", "a:b:1", "::1", "[]:1", "http://h:1", "a b"})
    EXPECT_EQ(addressOf(odd), "") << odd;
}

TEST(ServerSettings, FindThisMachinesSocketWhereNothingElseIsSaid) {
  World world;
  const std::string own = "/home/a/.local/state/popdistd-dev/popdistd.sock";
  std::string listening = own;
  Surroundings here = world.here();
  here.listens = [&listening](const std::string& path) { return path == listening; };
  EXPECT_EQ(serverSettings({}, here).value().address, "unix:" + own);
  listening = "/run/popdistd/popdistd.sock";
  EXPECT_EQ(serverSettings({}, here).value().address, "unix:" + listening);
  world.variables["POPDIST_TLS"] = "/tls";
  EXPECT_EQ(serverSettings({}, here).value().address, "localhost:8090") << "a certificate is for an address";
  world.variables["POPDIST_SERVER"] = "head";
  EXPECT_EQ(serverSettings({}, here).value().address, "head:8090");
  CommonOptions options;
  options.server = "local";
  EXPECT_EQ(serverSettings(options, here).value().address, "unix:" + listening);
  EXPECT_EQ(serverSettings(options, here).value().tls, "");
  options.server = "unix:/elsewhere";
  EXPECT_EQ(serverSettings(options, here).value().address, "unix:/elsewhere");
  listening.clear();
  options.server = "local";
  const Result<ServerSettings> none = serverSettings(options, here);
  EXPECT_EQ(none.code(), Code::kUnavailable);
  EXPECT_THAT(none.status().message(), HasSubstr("/run/popdistd/popdistd.sock"));
}

TEST(ServerSettings, NameTheTokensFile) {
  World world;
  world.files[kSystems] = "token-file=/system\n";
  EXPECT_EQ(serverSettings({}, world.here()).value().token_file, "/system");
  world.variables["POPCTL_TOKEN_FILE"] = "/variable";
  EXPECT_EQ(serverSettings({}, world.here()).value().token_file, "/variable");
  EXPECT_EQ(serverSettings({}, world.here()).value().token_option, "POPCTL_TOKEN_FILE");
  CommonOptions options;
  options.token_file = "/option";
  EXPECT_EQ(serverSettings(options, world.here()).value().token_file, "/option");
}

TEST(ServerSettings, MistakesNameFileAndLine) {
  World world;
  world.files[kUsers] = "server=h:1\nport=3\n";
  const Result<ServerSettings> settings = serverSettings({}, world.here());
  EXPECT_EQ(settings.code(), Code::kInvalidArgument);
  EXPECT_THAT(settings.status().message(), HasSubstr(std::string(kUsers) + ":2"));
}

}  // namespace
}  // namespace pop::popctl
