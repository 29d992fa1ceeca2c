// SPDX-License-Identifier: Apache-2.0
#include "bench/daemon_speed/cluster.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/daemon_speed/client.h"
#include "common/sys/account_name.h"
#include "tests/testing/file_text.h"
#include "tests/testing/free_port.h"
#include "tests/testing/process_tree.h"

namespace pop::bench {
namespace {

constexpr std::chrono::milliseconds kStartLimit{30'000};

// User of the jobs: nobody, if we are root.
std::string unixUser() {
  return ::geteuid() == 0 ? "nobody" : sys::accountName(::geteuid()).value_or("");
}

}  // namespace

PopCluster::PopCluster() : port_(testing::freePort()) {
  std::filesystem::permissions(path(""), std::filesystem::perms(0711));  // the jobs' user passes
}

Status PopCluster::startDaemon(const std::string& programs, const std::string& etcd) {
  const Result<double> made = timeOf({programs + "/popdist-agent", "init-tls", "--dir", tls(), "--host",
                                      "localhost+127.0.0.1+h0", "--user", "bench", "--user", "root"});
  if (!made.ok()) return made.status();
  for (const char* const end : {".pem", "-key.pem"})
    std::filesystem::rename(path("tls/host-localhost") + end, path("tls/host") + end);
  std::ofstream(path("users")) << "bench = " << unixUser() << '\n';
  const std::string address = "127.0.0.1:" + std::to_string(port_);
  std::vector<std::string> command{programs + "/popdistd", "--http",   "none", "--tls", tls(), "--state",
                                   path("state"),          "--listen", address};
  if (!etcd.empty())
    for (const std::string& word :
         {std::string("--etcd"), etcd, std::string("--etcd-prefix"), "/bench-" + std::to_string(port_),
          std::string("--advertise"), std::string("localhost"), std::string("--insecure")})
      command.push_back(word);
  POP_ASSIGN_OR_RETURN(daemon_, Served::start(command, path("popdistd.log")));
  const DaemonClient client(*this);
  if (!testing::waitUntil([&] { return client.serves(); }, kStartLimit))
    return internalError("popdistd does not serve: " + testing::fileText(path("popdistd.log")));
  return {};
}

Status PopCluster::startHost(const std::string& programs, int slots) {
  POP_ASSIGN_OR_RETURN(
      host_, Served::start({programs + "/popdist-agent", "serve", "--listen", "127.0.0.1:0", "--tls", tls(),
                            "--users", path("users"), "--controller", server(), "--name", "h0", "--slots",
                            std::to_string(slots), "--state", path("h0.state")},
                           path("h0.log")));
  const DaemonClient client(*this);
  if (!testing::waitUntil([&] { return client.hasHost("h0"); }, kStartLimit))
    return internalError("the host does not join: " + testing::fileText(path("h0.log")));
  return {};
}

}  // namespace pop::bench
