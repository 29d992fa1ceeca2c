// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/etcd_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>

#include "popdistd/etcd/etcd_client.h"
#include "tests/testing/file_text.h"
#include "tests/testing/free_port.h"

namespace pop::testing {
namespace {

constexpr std::chrono::seconds kStartTimeout{20};
constexpr std::chrono::milliseconds kEndTimeout{5000};

std::string memory() {
  return std::filesystem::exists("/dev/shm") ? "/dev/shm" : "";
}

}  // namespace

EtcdServer::EtcdServer(std::int64_t quota_bytes, std::optional<EtcdTls> tls)
    : directory_(memory()),
      quota_bytes_(quota_bytes),
      tls_(std::move(tls)),
      port_(freePort()),
      peer_port_(freePort()) {
  start();
}

EtcdServer::~EtcdServer() {
  kill();
}

void EtcdServer::kill() {
  program_.signal(SIGKILL);
  program_.signal(SIGCONT);
  program_.endsWithin(kEndTimeout);
  program_ = {};
}

std::string EtcdServer::tlsOptions() const {
  if (!tls_) return {};
  const std::string& in = tls_->directory;
  std::string options = " --cert-file " + in + "/host.pem --key-file " + in + "/host-key.pem";
  if (tls_->clients_show) options += " --client-cert-auth --trusted-ca-file " + in + '/' + tls_->trusted;
  if (tls_->peers_have_tls)
    options += " --peer-client-cert-auth --peer-trusted-ca-file " + in + '/' + tls_->trusted +
               " --peer-cert-file " + in + "/host.pem --peer-key-file " + in + "/host-key.pem";
  return options;
}

void EtcdServer::start() {
  const std::string client = (tls_ ? "https://" : "http://") + address();
  const std::string peer = (tls_ && tls_->peers_have_tls ? "https://" : "http://") + peerAddress();
  const std::string command =
      "exec etcd --name test --data-dir " + directory_.path() + "/data --listen-client-urls " + client +
      " --advertise-client-urls " + client + " --listen-peer-urls " + peer +
      " --initial-advertise-peer-urls " + peer + " --initial-cluster test=" + peer +
      " --heartbeat-interval 20 --election-timeout 200" + " --quota-backend-bytes " +
      std::to_string(quota_bytes_) + tlsOptions() + " >>" + directory_.path() + "/log 2>&1";
  Result<os::HelperProgram> program =
      os::HelperProgram::start({"/bin/sh", "-c", command}, {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
  ASSERT_TRUE(program.ok()) << program.status().message();
  program_ = std::move(*program);
  popdistd::EtcdServers servers{.addresses = {address()}, .tls = {}};
  if (tls_)
    servers.tls =
        tls::tlsFilesOf(fileText(tls_->directory + "/ca.pem"), fileText(tls_->directory + "/host.pem"),
                        fileText(tls_->directory + "/host-key.pem"));
  popdistd::EtcdClient client_of_it(std::move(servers));
  const Result<popdistd::EtcdPairs> answer = client_of_it.read({"x", {}}, 1, Clock::now() + kStartTimeout);
  ASSERT_TRUE(answer.ok()) << answer.status().message() << "; is etcd-server installed (scripts/setup)?\n"
                           << log();
}

std::string EtcdServer::log() const {
  return fileText(directory_ / "log");
}

EtcdServer& sharedEtcd() {
  static EtcdServer server;
  return server;
}

std::string ownPrefix() {
  static int last = 0;
  return "/test-" + std::to_string(++last);
}

}  // namespace pop::testing
