// SPDX-License-Identifier: Apache-2.0
#include "popdistd/leader/leadership.h"

#include <utility>

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::milliseconds kTakeTimeout{3000};
constexpr std::chrono::milliseconds kGiveBackTimeout{1000};

Status stoppedTooLong() {
  return unavailable("this process, its machine or etcd was stopped for longer than its lease");
}

}  // namespace

std::string leaderKey(const std::string& prefix) {
  return prefix + "/leader";
}

Result<std::optional<::popdist::v1::LeaderRecord>> readLeader(EtcdClient& etcd, const std::string& prefix,
                                                              Clock::time_point deadline) {
  const std::string key = leaderKey(prefix);
  POP_ASSIGN_OR_RETURN(const EtcdPairs found, etcd.read({key, {}}, 1, deadline));
  if (found.pairs.empty()) return std::optional<::popdist::v1::LeaderRecord>();
  ::popdist::v1::LeaderRecord record;
  if (!record.ParseFromString(found.pairs.front().value) || record.address().empty())
    return Status(Code::kDataLoss, "etcd's key " + key + " is not popdistd's: give another --etcd-prefix");
  return std::optional(std::move(record));
}

Result<std::unique_ptr<Leadership>> Leadership::tryToTake(EtcdClient& etcd, const std::string& prefix,
                                                          const ::popdist::v1::LeaderRecord& self, Lost lost,
                                                          LeaseTimes times) {
  std::unique_ptr<Leadership> leadership(new Leadership(etcd, leaderKey(prefix), std::move(lost), times));
  const Clock::time_point sent = Clock::now();
  POP_ASSIGN_OR_RETURN(const std::int64_t lease, etcd.grantLease(times.duration, sent + kTakeTimeout));
  leadership->lease_ = lease;
  leadership->hold(sent);
  EtcdTransaction take;
  take.expected = {{leadership->key_, 0}};
  take.puts = {{leadership->key_, self.SerializeAsString(), lease}};
  take.else_read = {leadership->key_};
  POP_ASSIGN_OR_RETURN(const EtcdOutcome outcome, etcd.transact(take, leadership->heldUntil()));
  leadership->revision_ = outcome.revision;
  if (!outcome.done) {
    // An earlier try may have arrived; it is ours only if it has our lease.
    POP_ASSIGN_OR_RETURN(const EtcdPairs now, etcd.read({leadership->key_, {}}, 1, leadership->heldUntil()));
    if (now.pairs.empty() || now.pairs.front().lease != lease) return std::unique_ptr<Leadership>();
    leadership->revision_ = now.pairs.front().create_revision;
  }
  leadership->thread_ = std::thread([raw = leadership.get()] { raw->keepAlive(); });
  return leadership;
}

Leadership::~Leadership() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  wakes_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (lease_ != 0) (void)etcd_.revokeLease(lease_, Clock::now() + kGiveBackTimeout);
}

void Leadership::hold(Clock::time_point sent) {
  held_until_ = (sent + times_.duration - times_.margin).time_since_epoch().count();
}

Fence Leadership::fence() {
  return {.key = key_,
          .revision = revision_,
          .held_until = [this] { return heldUntil(); },
          .lost = [this](const Status& why) { lose(why); }};
}

void Leadership::lose(const Status& why) {
  if (!is_lost_.exchange(true) && lost_) lost_(why);
}

void Leadership::check() {
  if (Clock::now() >= heldUntil()) lose(stoppedTooLong());
}

void Leadership::keepAlive() {
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, times_.every, [this] { return is_ending_; })) {
    lock.unlock();
    const Clock::time_point sent = Clock::now();
    const Status kept = sent < heldUntil()
                            ? etcd_.keepAlive(lease_, heldUntil())
                            : unavailable("this process, or its machine, was stopped for long");
    lock.lock();
    if (kept.ok()) {
      hold(sent);
      continue;
    }
    return lose(kept);
  }
}

}  // namespace pop::popdistd
