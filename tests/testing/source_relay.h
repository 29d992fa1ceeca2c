// SPDX-License-Identifier: Apache-2.0
// Passes connections on from another address of this machine, so that what a server counts by address is
// counted apart.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/sys/fd.h"

namespace pop::testing {

class SourceRelay {
 public:
  /// From a port of 127.0.0.1 to port `to` there, where connections come from `source`: "127.0.0.7".
  SourceRelay(int to, std::string source)
      : to_(to), source_(std::move(source)), listener_(bound("127.0.0.1")), end_(::eventfd(0, EFD_CLOEXEC)) {
    EXPECT_EQ(::listen(listener_.get(), SOMAXCONN), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~SourceRelay() {
    ::eventfd_write(end_.get(), 1);
    thread_.join();
  }
  SourceRelay(const SourceRelay&) = delete;
  SourceRelay& operator=(const SourceRelay&) = delete;

  int port() const {
    sockaddr_in address{};
    socklen_t bytes = sizeof address;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
    return ntohs(address.sin_port);
  }

 private:
  using Pair = std::pair<sys::Fd, sys::Fd>;

  static sockaddr_in at(const std::string& address, int port) {
    sockaddr_in place{.sin_family = AF_INET, .sin_port = htons(static_cast<std::uint16_t>(port))};
    ::inet_pton(AF_INET, address.c_str(), &place.sin_addr);
    return place;
  }
  static sys::Fd bound(const std::string& address) {
    sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in place = at(address, 0);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place), 0) << address;
    return socket;
  }

  void run() {
    for (;;) {
      std::vector<pollfd> polled{{end_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      for (const auto& [client, server] : pairs_) {
        polled.push_back({client.get(), POLLIN, 0});
        polled.push_back({server.get(), POLLIN, 0});
      }
      ::poll(polled.data(), polled.size(), -1);
      if (polled[0].revents != 0) return;
      for (std::size_t i = pairs_.size(); i-- > 0;) {
        const auto& [client, server] = pairs_[i];
        const bool goes_on = (polled[2 * i + 2].revents == 0 || pass(client, server)) &&
                             (polled[2 * i + 3].revents == 0 || pass(server, client));
        if (!goes_on) pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (polled[1].revents != 0) accept();
    }
  }

  static bool pass(const sys::Fd& from, const sys::Fd& to) {
    std::array<char, 65536> bytes;
    const ssize_t count = ::recv(from.get(), bytes.data(), bytes.size(), 0);
    return count > 0 &&
           ::send(to.get(), bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
  }

  void accept() {
    sys::Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    sys::Fd server = bound(source_);
    const sockaddr_in place = at("127.0.0.1", to_);
    if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0)
      pairs_.emplace_back(std::move(client), std::move(server));
  }

  const int to_;
  const std::string source_;
  const sys::Fd listener_;
  const sys::Fd end_;
  std::vector<Pair> pairs_;
  std::thread thread_;
};

}  // namespace pop::testing
