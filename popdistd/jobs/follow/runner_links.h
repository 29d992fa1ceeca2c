// SPDX-License-Identifier: Apache-2.0
// Streams of records from jobs' runners, over the streams of their hosts. A stream outlives a host's
// connection and a runner: it goes on from the next sequence when the host is back, and from a feeder when
// the runner is gone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/contract/record_streams.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

/// A job and the attempt to start it.
using RunnerId = std::pair<std::int64_t, std::int32_t>;

inline RunnerId idOf(const v1::RunnerKey& key) {
  return {key.job(), key.attempt()};
}
v1::RunnerKey keyOf(const RunnerId& id);

/// A reader's wish: which of a job's records.
struct FollowRequest {
  std::uint64_t from_sequence = 1;
  bool events_only = false;
  bool until_now = false;  ///< else until the job ends
  std::int64_t credit_bytes = 0;
};

class RunnerLinks {
 public:
  struct Events {
    std::function<void(const v1::Records&)> records;
    /// The last one. Ok: everything there is was said.
    std::function<void(const Status&)> ended;
  };
  /// False: the host has not joined.
  using Send = std::function<bool(const std::string& host, v1::HostOrder order)>;

  /// `life`: of the daemon, above all before. Runners outlive it, and answer orders of an earlier one.
  RunnerLinks(Send send, std::uint64_t life)
      : send_(std::move(send)), last_order_(static_cast<std::int64_t>(life << contract::kStreamLifeShift)) {}

  /// Never calls back before it returns.
  std::int64_t follow(const std::string& host, const RunnerId& runner, const FollowRequest& request,
                      Events events);
  void unfollow(std::int64_t stream);  ///< ignored when it has ended
  void credit(std::int64_t stream, std::int64_t bytes);

  /// To a runner whose host has joined; else false.
  bool order(const std::string& host, const RunnerId& runner, v1::RunnerOrder order);

  // ---- what hosts say

  /// Each of `runners` is alive. Their streams go on; those of others when a feeder has begun.
  void joined(const std::string& host, const std::set<RunnerId>& runners);
  void left(const std::string& host);
  /// A runner, or a feeder, speaks.
  void said(const std::string& host, const RunnerId& runner, v1::RunnerReport report);
  /// Its process has ended.
  void gone(const std::string& host, const RunnerId& runner);
  /// Its host was asked for a feeder, and none has spoken yet.
  bool awaitsFeeder(const std::string& host, const RunnerId& runner) const;
  /// There is no feeder for it: its streams end with the reason.
  void refused(const std::string& host, const RunnerId& runner, const Status& why);

  /// A reader of logs has got so many bytes.
  void countRead(std::size_t bytes) { read_bytes_ += bytes; }
  std::uint64_t readBytes() const { return read_bytes_; }

 private:
  enum class Presence : std::uint8_t { kAbsent, kAsked, kThere };
  struct Link {
    Presence presence = Presence::kAbsent;
    int feeders_without_progress = 0;
    std::set<std::int64_t> streams;
  };
  struct Stream {
    std::string host;
    RunnerId runner;
    FollowRequest request;  ///< the part that is still wanted
    Events events;
    std::int64_t order = 0;  ///< the number that its runner knows it by; 0: the runner does not know it
  };
  using LinkId = std::pair<std::string, RunnerId>;

  void wake(const LinkId& id, Link& link);
  void sendFollow(std::int64_t number, Stream& stream);
  void sendUnfollow(Stream& stream);
  std::map<std::int64_t, Stream>::iterator streamOf(std::int64_t order, const LinkId& id);
  void receive(const LinkId& id, v1::Records records);
  void end(std::int64_t stream, const Status& why);
  void forget(std::int64_t stream);

  const Send send_;
  std::int64_t last_stream_ = 0;
  std::int64_t last_order_;
  std::map<std::int64_t, Stream> streams_;
  std::map<std::int64_t, std::int64_t> orders_;  ///< to the stream that each is of
  std::map<LinkId, Link> links_;
  std::uint64_t read_bytes_ = 0;
};

}  // namespace pop::popdistd
