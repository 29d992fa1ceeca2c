// SPDX-License-Identifier: Apache-2.0
#include "popdistd/etcd_access.h"

#include <unistd.h>

#include <ctime>
#include <string>
#include <utility>

#include "common/tls/host_tls.h"
#include "common/tls/tls_files.h"

namespace pop::popdistd {
namespace {

Status because(const char* option, const Status& why) {
  return {why.code(), std::string(option) + ": " + why.message()};
}

// Without TLS, every client that reaches etcd can write it; on this machine, all users can.
Status checkWithoutTls(const DaemonOptions& options) {
  if (options.insecure) return {};
  for (const std::string& address : options.etcd.addresses) {
    POP_ASSIGN_OR_RETURN(const os::Place place, os::parsePlace("--etcd", address));
    const bool is_here = os::isLoopback(place.address);
    if (is_here && options.tls_directory.empty() && ::geteuid() != 0) continue;
    return failedPrecondition("--etcd: without TLS " +
                              (is_here ? "every user of this machine" : "anybody who reaches " + address) +
                              " could run jobs as any user: give the directory of this machine's certificate "
                              "(popdist-agent init-tls --etcd) with --etcd-tls, or allow it with --insecure");
  }
  return {};
}

// The certificate is shown to etcd by a forbidden client, so it has to be one for clients.
Result<tls::TlsFiles> hostTlsOf(const DaemonOptions& options) {
  Result<tls::TlsFiles> files = tls::loadHostTlsForJoining(options.tls_directory);
  return files.ok() ? std::move(files) : because("--tls", files.status());
}

}  // namespace

Result<std::unique_ptr<EtcdClient>> etcdClientOf(const DaemonOptions& options) {
  EtcdServers servers{.addresses = options.etcd.addresses, .tls = {}};
  if (options.etcd.tls_directory.empty()) {
    POP_RETURN_IF_ERROR(checkWithoutTls(options));
    return std::make_unique<EtcdClient>(std::move(servers));
  }
  Result<tls::TlsFiles> files = tls::loadHostTlsForJoining(options.etcd.tls_directory);
  if (!files.ok()) return because("--etcd-tls", files.status());
  if (!options.tls_directory.empty()) {
    POP_ASSIGN_OR_RETURN(const tls::TlsFiles users, hostTlsOf(options));
    if (tls::haveOneAuthority(*files, users))
      return failedPrecondition(
          "--etcd-tls: " + options.etcd.tls_directory + " has an authority of " + options.tls_directory +
          ", which signs certificates of hosts and users, and with these they could "
          "write etcd and run jobs as any user: make certificates of an authority of its "
          "own with popdist-agent init-tls --etcd, and give them to etcd, too");
  }
  servers.tls = std::move(*files);
  return std::make_unique<EtcdClient>(std::move(servers));
}

Result<std::vector<ForbiddenClient>> forbiddenClientsOf(const DaemonOptions& options) {
  std::vector<ForbiddenClient> forbidden;
  if (options.etcd.tls_directory.empty()) return forbidden;
  forbidden.push_back({.who = "a client without a certificate"});
  if (options.tls_directory.empty()) return forbidden;
  POP_ASSIGN_OR_RETURN(tls::TlsFiles host, hostTlsOf(options));
  forbidden.push_back({"a host's certificate of --tls",
                       tls::KeyPair{std::move(host.certificate_pem), std::move(host.key_pem)}});
  const std::string issuer = options.tls_directory + "/issuer";
  if (::access((issuer + ".pem").c_str(), F_OK) != 0) return forbidden;
  POP_ASSIGN_OR_RETURN(tls::TlsFiles files,
                       tls::loadTls({options.tls_directory + "/ca.pem", issuer + ".pem", issuer + "-key.pem"},
                                    tls::TlsRole::kAuthority, std::time(nullptr)));
  forbidden.push_back({"the issuer of jobs' certificates",
                       tls::KeyPair{std::move(files.certificate_pem), std::move(files.key_pem)}});
  return forbidden;
}

}  // namespace pop::popdistd
