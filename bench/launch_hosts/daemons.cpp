// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/daemons.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "common/base/check.h"
#include "tests/testing/file_text.h"
#include "tests/testing/process_tree.h"

namespace pop::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kStartTimeout{10};
constexpr std::chrono::seconds kSparesTimeout{10};

}  // namespace

HostDaemons::HostDaemons(const testing::TestHosts& hosts, std::string directory)
    : hosts_(hosts), directory_(std::move(directory)) {
  makeCertificates();
  std::ofstream(directory_ + "/users") << "bench = root\n";
  for (int host = 0; host < hosts_.count(); ++host) startOn(host);
  for (int host = 0; host < hosts_.count(); ++host) {
    const auto listens = [&](const std::string& log) {
      return testing::fileText(hosts_.tmp(host) + log).find("listening") != std::string::npos;
    };
    POP_CHECK(
        testing::waitUntil([&] { return listens("/service.log") && listens("/floor.log"); }, kStartTimeout));
  }
}

void HostDaemons::makeCertificates() const {
  std::string names;
  for (int host = 0; host < hosts_.count(); ++host)
    names += (host == 0 ? "" : ",") + hosts_.name(host) + '+' + hosts_.address(host);
  const std::string command =
      directory_ + "/popdist-agent init-tls --dir " + tls() + " --host " + names + " --user bench >/dev/null";
  POP_CHECK(std::system(command.c_str()) == 0);
}

void HostDaemons::startOn(int host) const {
  const auto background = [](const std::string& command, const std::string& log) {
    return command + " >" + log + " 2>&1 </dev/null & ";
  };
  const std::string service = directory_ +
                              "/popdist-agent serve --listen 0.0.0.0:" + std::to_string(kServicePort) +
                              " --tls " + tls() + " --users " + directory_ + "/users";
  const std::string floor = directory_ + "/bench_launch_tcp_floor serve " + std::to_string(kFloorPort);
  const testing::TestHosts::Output started =
      hosts_.run(host, background(service, "/tmp/service.log") + background(floor, "/tmp/floor.log"));
  POP_CHECK(started.exit_code == 0);
}

void HostDaemons::waitForSpares() const {
  static_cast<void>(testing::waitUntil([this] { return countSpares() >= hosts_.count(); }, kSparesTimeout));
}

// Between jobs there are no other agents. Their keepers have the same command line.
int HostDaemons::countSpares() const {
  const std::string agent = directory_ + "/popdist-agent";
  int count = 0;
  for (const fs::directory_entry& process : fs::directory_iterator("/proc")) {
    const std::string command = testing::fileText(process.path() / "cmdline");
    if (!command.starts_with(agent) || command.find("--wait") == std::string::npos) continue;
    if (testing::fileText(process.path() / "comm") == "popdist-agent\n") ++count;
  }
  return count;
}

}  // namespace pop::bench
