// SPDX-License-Identifier: Apache-2.0
// A client of etcd: blocking calls, each until a deadline. From any thread.
//
// A server that does not answer is left for the next one, with the same request: etcd may carry out a request
// twice. Transactions compare what makes the second time harmless, and reading does no harm.
// Errors: kUnavailable: none of the servers has answered; whether it was carried out is unknown.
// kResourceExhausted, kInvalidArgument, kPermissionDenied …: etcd has refused it, and nothing has changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "common/tls/tls_files.h"

namespace pop::popdistd {

struct EtcdServers {
  std::vector<std::string> addresses;  ///< "h0:2379"
  std::optional<tls::TlsFiles> tls;    ///< missing: without TLS

  /// For messages.
  std::string text() const;
};

struct EtcdPair {
  std::string key;
  std::string value;
  std::int64_t create_revision = 0;  ///< of the store, when the key was made
  std::int64_t lease = 0;            ///< 0: none
};

/// All keys from `first` on that are before `end`; without an end, the key alone.
struct EtcdRange {
  std::string first;
  std::string end;
};

/// Every key that begins so.
EtcdRange keysBelow(const std::string& prefix);

/// Carried out as a whole if all keys are as they are expected, or else not at all.
struct EtcdTransaction {
  struct Expected {
    std::string key;
    std::int64_t create_revision = 0;  ///< 0: there is no such key
  };
  struct Put {
    std::string key;
    std::string value;
    std::int64_t lease = 0;
  };
  std::vector<Expected> expected;
  std::vector<Put> puts;
  std::vector<EtcdRange> removes;
  std::vector<std::string> else_read;  ///< keys, if anything is not as expected
};

struct EtcdOutcome {
  bool done = false;
  std::int64_t revision = 0;   ///< of the store, after it
  std::vector<EtcdPair> read;  ///< of else_read those that are there, in order
};

struct EtcdPairs {
  std::vector<EtcdPair> pairs;
  bool more = false;
  std::int64_t revision = 0;
};

struct EtcdMember {
  std::string name;
  std::vector<std::string> urls;  ///< for clients, and for other members: "https://h0:2379"
};

class EtcdClient {
 public:
  /// Connects when it is first used.
  explicit EtcdClient(EtcdServers servers);
  ~EtcdClient();
  EtcdClient(const EtcdClient&) = delete;
  EtcdClient& operator=(const EtcdClient&) = delete;

  const EtcdServers& servers() const { return servers_; }

  Result<EtcdOutcome> transact(const EtcdTransaction& transaction, Clock::time_point deadline);
  /// By key, at most `most`; 0: all.
  Result<EtcdPairs> read(const EtcdRange& range, std::int64_t most, Clock::time_point deadline);
  /// Forgets the values that keys had before this revision. One that is forgotten already: ok.
  Status compact(std::int64_t revision, Clock::time_point deadline);

  Result<std::vector<EtcdMember>> members(Clock::time_point deadline);

  /// Its number.
  Result<std::int64_t> grantLease(std::chrono::seconds duration, Clock::time_point deadline);
  /// kNotFound: it has ended.
  Status keepAlive(std::int64_t lease, Clock::time_point deadline);
  /// With its keys.
  Status revokeLease(std::int64_t lease, Clock::time_point deadline);

 private:
  struct Calls;
  const EtcdServers servers_;
  const std::unique_ptr<Calls> calls_;
};

}  // namespace pop::popdistd
