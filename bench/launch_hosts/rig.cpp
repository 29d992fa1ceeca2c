// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_hosts/rig.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/base/check.h"

namespace pop::bench {
namespace {

namespace fs = std::filesystem;

void writeFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  POP_CHECK(file.flush().good());
}

std::string nameOf(KeyExchange exchange) {
  return exchange == KeyExchange::kDefault ? "default" : "curve25519";
}

}  // namespace

HostRig::HostRig(int hosts, const std::string& programs, const std::vector<std::string>& names)
    : hosts_(hosts) {
  std::string directory = fs::path(programs).parent_path() / "bench-hosts-XXXXXX";
  POP_CHECK(::mkdtemp(directory.data()) != nullptr);
  directory_ = directory;
  installPrograms(programs, names);
  writeSshFiles();
  for (int count = 1; count <= hosts; ++count) writeFile(addressFile(count), addresses(count, "\n") + '\n');
}

HostRig::~HostRig() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

void HostRig::giveCores() const {
  for (int host = 0; host < size(); ++host) {
    const std::string core =
        std::to_string(static_cast<unsigned>(host) % std::thread::hardware_concurrency());
    const std::string give = "taskset -cp " + core + " $pid >/dev/null";
    POP_CHECK(hosts_.run(host, "for pid in $(pidof sshd); do " + give + "; done").exit_code == 0);
  }
}

// Copied, as an installation does: files straight from the linker start later
// (docs/dev/benchmarks/launch.md).
void HostRig::installPrograms(const std::string& programs, const std::vector<std::string>& names) const {
  for (const std::string& name : names) fs::copy_file(fs::path(programs) / name, program(name));
}

// The key and the known hosts too: Open MPI starts daemons on some hosts from others.
void HostRig::writeSshFiles() const {
  fs::copy_file(hosts_.identity(), directory_ + "/identity");
  fs::copy_file(hosts_.knownHosts(), directory_ + "/known_hosts");
  const std::string common = "Host *\n  User root\n  IdentityFile " + directory_ +
                             "/identity\n  UserKnownHostsFile " + directory_ + "/known_hosts\n";
  writeFile(sshConfig(KeyExchange::kDefault), common);
  writeFile(sshConfig(KeyExchange::kCurve25519), common + "  KexAlgorithms curve25519-sha256\n");
  for (const KeyExchange exchange : {KeyExchange::kDefault, KeyExchange::kCurve25519}) {
    writeFile(sshCommand(exchange), "#!/bin/sh\nexec ssh -F " + sshConfig(exchange) + " \"$@\"\n");
    fs::permissions(sshCommand(exchange), fs::perms::owner_all);
  }
}

std::string HostRig::addresses(int count, const std::string& separator, const std::string& suffix) const {
  std::string all;
  for (int host = 0; host < count; ++host)
    all += (host == 0 ? "" : separator) + hosts_.address(host) + suffix;
  return all;
}

std::string HostRig::addressFile(int count) const {
  return directory_ + "/addresses-" + std::to_string(count);
}

std::string HostRig::sshConfig(KeyExchange exchange) const {
  return directory_ + "/ssh_config-" + nameOf(exchange);
}

std::string HostRig::sshCommand(KeyExchange exchange) const {
  return directory_ + "/ssh-" + nameOf(exchange);
}

}  // namespace pop::bench
