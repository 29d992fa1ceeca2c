// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/test_network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <utility>

#include "common/base/check.h"
#include "common/sys/fd.h"

namespace pop::testing {
namespace {

bool isOurs(const std::string& prefix) {
  ifaddrs* list = nullptr;
  POP_CHECK(::getifaddrs(&list) == 0);
  bool found = false;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, INET_ADDRSTRLEN> text;
    const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    ::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
    found = found || std::string(text.data()).starts_with(prefix);
  }
  ::freeifaddrs(list);
  return found;
}

std::string hexByte(int value) {
  std::array<char, 3> text;
  ::snprintf(text.data(), text.size(), "%02x", static_cast<unsigned>(value) & 0xffU);
  return text.data();
}

}  // namespace

std::pair<std::string, std::string> freeNetwork() {
  // Two fixtures at a time, in this process or another, must not choose alike: the pid decides, then what is
  // free.
  for (int attempt = 0; attempt < 64 * 256; ++attempt) {
    const int number = (static_cast<int>(::getpid()) + attempt * 977) % (64 * 256);
    const int high = 64 + number / 256, low = number % 256;
    const std::string prefix4 = "10." + std::to_string(high) + '.' + std::to_string(low) + '.';
    if (!isOurs(prefix4)) return {prefix4, "fd7a:" + hexByte(high) + hexByte(low) + "::"};
  }
  POP_CHECK(false);
  return {};
}

void useNoNameServer(const std::string& directory) {
  static bool done = false;
  if (std::exchange(done, true)) return;
  POP_CHECK(::unshare(CLONE_NEWNS) == 0);
  POP_CHECK(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
  const std::string file = directory + "/nsswitch.conf";
  std::ofstream(file) << "passwd: files\ngroup: files\nhosts: files\n";
  POP_CHECK(::mount(file.c_str(), "/etc/nsswitch.conf", nullptr, MS_BIND, nullptr) == 0);
}

bool answersSsh(const std::string& address) {
  const sys::Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(22);
  POP_CHECK(::inet_pton(AF_INET, address.c_str(), &to.sin_addr) == 1);
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
}

}  // namespace pop::testing
