// SPDX-License-Identifier: Apache-2.0
// All who follow a job's records over one link, which takes a batch at a time: in turn, so that one who
// follows fast holds up none of the others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "proto/popdist/v1/host.pb.h"
#include "runner/program/follower.h"

namespace pop::runner {

class Followers {
 public:
  struct Link {
    std::function<void(const ::popdist::v1::RunnerReport&)> send;
    std::function<bool()> has_room;  ///< nothing that was sent waits any more
  };

  Followers(std::string directory, Link link) : directory_(std::move(directory)), link_(std::move(link)) {}

  /// In place of one with the same number.
  void follow(const ::popdist::v1::Follow& order);
  void addCredit(const ::popdist::v1::Credit& order);  ///< of one who is gone: ignored
  void unfollow(std::int64_t stream) { streams_.erase(stream); }
  void clear() { streams_.clear(); }

  /// There are new records.
  void appended() { has_new_ = true; }
  /// No records will follow those that are there.
  void noMore();

  /// Sends a batch for each who may have more, as long as the link has room; then, where no records follow,
  /// the end to those who have all. True: call it again when the link has room.
  bool send();

  bool empty() const { return streams_.empty(); }

 private:
  bool sendFor(std::int64_t stream, Follower& follower);
  void sendEnd(std::int64_t stream, const std::string& problem);

  const std::string directory_;
  const Link link_;
  std::map<std::int64_t, Follower> streams_;
  std::int64_t last_served_ = 0;
  bool has_new_ = false;  ///< that nobody has been told of
  bool no_more_ = false;
};

}  // namespace pop::runner
