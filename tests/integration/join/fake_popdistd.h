// SPDX-License-Identifier: Apache-2.0
// popdistd as hosts see it: a gRPC server that welcomes them, keeps what they say, and sends what a test
// wants.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "proto/popdist/v1/host.pb.h"

namespace pop::testing {

namespace v1 = ::popdist::v1;

struct FakePopdistdSetup {
  int port = 0;  ///< 0: any
  // In PEM form; empty: without TLS.
  std::string authority;
  std::string certificate;
  std::string key;
  std::string cluster = "c1";
  int heartbeat_ms = 200;
  std::uint64_t epoch = 1;
  std::string refusal;  ///< the answer to every host; empty: welcome
};

class FakePopdistd {
 public:
  explicit FakePopdistd(FakePopdistdSetup setup);
  ~FakePopdistd();  ///< closes all connections
  FakePopdistd(const FakePopdistd&) = delete;
  FakePopdistd& operator=(const FakePopdistd&) = delete;

  int port() const;

  using Wanted = std::function<bool(const v1::HostReport&)>;

  /// The next report of the host of this name that is wanted, with all before it dropped; nothing: it has not
  /// come within 20 s. Heartbeats are not kept.
  std::optional<v1::HostReport> next(const std::string& host, const Wanted& wanted);

  /// Sends to a host that has joined.
  void send(const std::string& host, const v1::HostOrder& order);

  /// Reads nothing from hosts until it is called with false.
  void stopReading(bool stop);

  int heartbeats() const;         ///< so far, of all hosts
  std::size_t bytesRead() const;  ///< in records of all hosts; records are counted, not kept
  int connections() const;        ///< hosts that are there

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pop::testing
