// SPDX-License-Identifier: Apache-2.0
// The daemon's HTTP of a fake daemon, and raw clients of it over loopback.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "common/sys/random_name.h"
#include "popdistd/access/accounts.h"
#include "popdistd/web/http_server.h"
#include "popdistd/web/routes.h"
#include "tests/testing/fake_api.h"
#include "tests/testing/fake_pods_api.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/test_pairs.h"

namespace pop::popdistd {

/// A connection that says what it is told to, and hears what comes.
class RawClient {
 public:
  /// `from`: its own address, one of this host's.
  explicit RawClient(int port, int receive_buffer = 0, in_addr_t from = INADDR_LOOPBACK)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0)
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(from);
    static_cast<void>(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }

  bool connected() const { return connected_; }
  void close() { socket_.reset(); }

  void say(const std::string& text) const {
    std::size_t said = 0;
    while (said < text.size()) {
      const ssize_t count = ::send(socket_.get(), text.data() + said, text.size() - said, MSG_NOSIGNAL);
      if (count <= 0) return;
      said += static_cast<std::size_t>(count);
    }
  }

  /// All that comes until `end` is in it, or the connection ends.
  std::string hear(const std::string& end = {}) {
    while (end.empty() || heard_.find(end) == std::string::npos) {
      pollfd ready{socket_.get(), POLLIN, 0};
      if (::poll(&ready, 1, 20'000) != 1) return std::exchange(heard_, {}) + "(nothing more comes)";
      std::array<char, 65536> bytes{};
      const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (count <= 0) {
        ended_ = true;
        return std::exchange(heard_, {});
      }
      heard_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    const std::size_t at = heard_.find(end) + end.size();
    std::string got = heard_.substr(0, at);
    heard_.erase(0, at);
    return got;
  }
  bool ended() const { return ended_; }

 private:
  sys::Fd socket_;
  bool connected_ = false;
  bool ended_ = false;
  std::string heard_;
};

class WebTest : public ::testing::Test {
 protected:
  ~WebTest() override {
    loop.run([this] { server.reset(); });
  }

  void serve(HttpOptions options = {}) {
    if (options.address.empty()) options.address = "127.0.0.1";
    options.identify = [this](const Peer& peer, const Credentials& said) {
      return accounts.identify(peer, said);
    };
    Result<std::unique_ptr<HttpServer>> started = loop.run([&] {
      routes = std::make_unique<Routes>(
          api, pods,
          [](bool with_allocations) { return with_allocations ? "popdist_up 1\nteam" : "popdist_up 1\n"; },
          nullptr,
          Sessions{.begin = [this](const std::string& token,
                                   const Peer& peer) { return accounts.beginSession(token, peer); },
                   .end = [this](const std::string& session) { accounts.endSession(session); }});
      return HttpServer::start(
          loop.loop(), [this](const auto& exchange) { routes->handle(exchange); }, std::move(options));
    });
    ASSERT_TRUE(started.ok()) << started.status().message();
    server = std::move(*started);
    port = server->port();
  }

  void stop() {
    std::promise<void> stopped;
    loop.run([&] {
      server->stop(unavailable("popdistd is being stopped: by the test"), [&] { stopped.set_value(); });
    });
    stopped.get_future().wait();
  }

  /// One request on a connection of its own: the whole answer.
  std::string ask(const std::string& method, const std::string& target, const std::string& body = {},
                  const std::string& fields = "Content-Type: application/json\r\n") const {
    RawClient client(port);
    client.say(request(method, target, body, fields + "Connection: close\r\n"));
    return client.hear();
  }
  std::string post(const std::string& method, const std::string& json) const {
    return ask("POST", "/v1/" + method, json);
  }

  static std::string request(const std::string& method, const std::string& target,
                             const std::string& body = {}, const std::string& fields = {}) {
    return method + ' ' + target + " HTTP/1.1\r\nHost: localhost:1\r\n" + fields +
           (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" + body;
  }

  bool hasNoReaders() {
    return loop.until([this] { return api.changes.readers().empty() && api.records.readers().empty(); });
  }

  testing::TestPairs pairs;
  Accounts accounts{{.own_user = "me", .random_name = [] { return sys::randomName(); }}};
  testing::FakeApi api;
  testing::FakePodsApi pods;
  testing::LoopThread loop;
  std::unique_ptr<Routes> routes;
  std::unique_ptr<HttpServer> server;
  int port = 0;
};

}  // namespace pop::popdistd
