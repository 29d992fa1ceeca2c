// SPDX-License-Identifier: Apache-2.0
// The test child's commands that print what the process was given by its starter.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

std::string openDescriptors() {
  std::set<int> open;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    open.insert(std::stoi(entry.path().filename()));
  }
  std::string text;
  for (const int fd : open) {
    // The directory that was just read had a descriptor of its own.
    if (std::filesystem::exists("/proc/self/fd/" + std::to_string(fd)))
      text += (text.empty() ? "" : ",") + std::to_string(fd);
  }
  return text;
}

std::string statusField(const std::string& name) {
  const std::string status = std::move(sys::readFile("/proc/self/status")).value();
  const std::size_t begin = status.find('\n' + name + ":\t") + name.size() + 3;
  return status.substr(begin, status.find('\n', begin) - begin);
}

// The memory policies of all its memory: the second word of each line, each once.
std::string memoryPolicies() {
  std::istringstream maps(std::move(sys::readFile("/proc/self/numa_maps")).value());
  std::set<std::string> policies;
  std::string line;
  while (std::getline(maps, line)) {
    std::istringstream words(line);
    std::string address;
    std::string policy;
    words >> address >> policy;
    policies.insert(policy);
  }
  return join(std::vector<std::string>(policies.begin(), policies.end()), ",");
}

bool canBind(int port) {
  const sys::Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
         ::listen(socket.get(), 1) == 0;
}

// The port of the worker `index` in {"cluster":{"worker":["address:port",...
int tfPort(const std::string& config, int index) {
  std::size_t at = config.find('[');
  for (int i = 0; i <= index; ++i) at = config.find(':', at + 1);
  return std::atoi(config.c_str() + at + 1);
}

}  // namespace

int report(const Arguments&) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  std::printf("fds=%s\n", openDescriptors().c_str());
  std::printf("stdin=%s\n", std::filesystem::read_symlink("/proc/self/fd/0").c_str());
  std::printf("blocked=%s\nignored=%s\n", statusField("SigBlk").c_str(), statusField("SigIgn").c_str());
  std::printf("leads_group=%d\n", ::getpgrp() == ::getpid());
  std::printf("directory=%s\n", std::filesystem::current_path().c_str());
  std::printf("descriptor_limit=%lu\n", static_cast<unsigned long>(limit.rlim_cur));
  std::printf("cpus=%s\nmemory_policies=%s\n", statusField("Cpus_allowed_list").c_str(),
              memoryPolicies().c_str());
  const char* threads = std::getenv("OMP_NUM_THREADS");
  std::printf("omp_num_threads=%s\n", threads == nullptr ? "" : threads);
  return 0;
}

int bindPorts(const Arguments&) {
  const int port = tfPort(std::getenv("TF_CONFIG"), instanceIndex());
  const int master_port = std::atoi(std::getenv("MASTER_PORT"));
  if (!canBind(port)) return 1;
  if (instanceIndex() == 0 && (master_port == port || !canBind(master_port))) return 2;
  std::printf("bound %d\n", port);
  return 0;
}

}  // namespace pop::testing
