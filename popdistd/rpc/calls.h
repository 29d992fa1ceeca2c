// SPDX-License-Identifier: Apache-2.0
// The calls that are under way, of clients and hosts, each from its arrival to its end. gRPC's threads only
// post to the loop, and write what the loop has given them.
#pragma once

#include <grpcpp/support/status.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/loop.h"
#include "common/base/status.h"

namespace pop::popdistd {

inline grpc::Status toGrpc(const Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), status.message()};
}

class Calls;

/// All of it on the loop's thread, but where it says otherwise. Calls of gRPC's reactor come from the loop,
/// too, and Finish() is the last of them.
class Call : public std::enable_shared_from_this<Call> {
 public:
  /// `who`: whose calls are counted together; empty: see Calls::count(). `refused`: an error ends the call
  /// before it begins.
  Call(std::shared_ptr<Calls> calls, std::string who, Status refused)
      : calls_(std::move(calls)), who_(std::move(who)), refused_(std::move(refused)) {}
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// On gRPC's thread, once, when the object is ready: it lives until gRPC is done with it.
  void arrive();

  /// Ends the call; only the first end counts.
  void end(const Status& how);
  bool over() const { return over_; }  ///< from any thread

  const std::string& who() const { return who_; }

 protected:
  virtual void begin() = 0;
  /// Drops what goes on for it.
  virtual void release() = 0;
  virtual void finish(const grpc::Status& how) = 0;
  virtual void cancel() = 0;  ///< makes gRPC give a write up

  /// Runs `task` on the loop. From any thread until gRPC is done with the call.
  void post(std::function<void()> task);
  void dropped();          ///< on gRPC's thread: gRPC is done with it
  void clientCancelled();  ///< on gRPC's thread

  const Status& why() const { return how_; }  ///< once it is over

  bool writing() const { return writing_since_.has_value(); }
  void startedWriting();
  void stoppedWriting();

 private:
  friend class Calls;

  const std::shared_ptr<Calls> calls_;
  const std::string who_;
  const Status refused_;
  std::shared_ptr<Call> self_;  ///< from arrive() to dropped()
  std::atomic<bool> over_ = false;
  std::string counted_as_;  ///< empty: it is not counted
  bool given_up_ = false;
  Status how_;  ///< waits for a write
  std::optional<Clock::time_point> writing_since_;
};

class Calls : public std::enable_shared_from_this<Calls> {
 public:
  struct Limits {
    int most_of_one = 512;                            ///< calls at once of one user or host
    std::chrono::milliseconds write_timeout{60'000};  ///< for a reader to take a message
    std::chrono::milliseconds join_timeout{10'000};   ///< for a host to say which it is
  };
  Calls(Loop& loop, Limits limits) : loop_(loop), limits_(limits) {}

  Loop& loop() { return loop_; }
  const Limits& limits() const { return limits_; }

  void begin(const std::shared_ptr<Call>& call);
  /// From now on, with those of `who`: of a call that began when that was not known. kResourceExhausted.
  Status count(Call& call, const std::string& who);
  void remove(Call& call);

  /// Ends all calls, and those that come from now on.
  void close(const Status& why);

  /// Looks for writes that no reader takes, from now on until close().
  void watchWrites();
  void writes(Call& call, bool does);

 private:
  void giveUpWrites();

  Loop& loop_;
  const Limits limits_;
  std::set<std::shared_ptr<Call>> calls_;
  std::map<std::string, int> counts_;
  std::set<Call*> writing_;
  std::optional<Status> closed_;
  std::optional<TimerId> timer_;
};

}  // namespace pop::popdistd
