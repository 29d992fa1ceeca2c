// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/calls.h"

#include <utility>
#include <vector>

#include "common/base/text.h"

namespace pop::popdistd {
void Call::arrive() {
  self_ = shared_from_this();
  post([this] { calls_->begin(shared_from_this()); });
}

void Call::post(std::function<void()> task) {
  calls_->loop().post([self = shared_from_this(), task = std::move(task)] { task(); });
}

void Call::end(const Status& how) {
  if (over_.exchange(true)) return;
  const auto self = shared_from_this();
  how_ = how;
  release();
  calls_->remove(*this);
  if (!writing()) finish(toGrpc(how_));
}

void Call::dropped() {
  const std::shared_ptr<Call> last = std::move(self_);
}

void Call::clientCancelled() {
  post([this] { end({Code::kCancelled, "the client has cancelled the call, or its deadline has passed"}); });
}

void Call::startedWriting() {
  writing_since_ = calls_->loop().now();
  calls_->writes(*this, true);
}

void Call::stoppedWriting() {
  writing_since_.reset();
  calls_->writes(*this, false);
  if (over_) finish(toGrpc(how_));
}

void Calls::begin(const std::shared_ptr<Call>& call) {
  if (call->over()) return;
  if (closed_) return call->end(*closed_);
  if (!call->refused_.ok()) return call->end(call->refused_);
  if (!call->who().empty()) {
    if (const Status may = count(*call, call->who()); !may.ok()) return call->end(may);
  }
  calls_.insert(call);
  call->begin();
}

Status Calls::count(Call& call, const std::string& who) {
  const auto found = counts_.find(who);
  if (found != counts_.end() && found->second >= limits_.most_of_one)
    return {Code::kResourceExhausted,
            who + " has " + counted(found->second, "call") + " at once, which is the most: end some"};
  ++counts_[who];
  call.counted_as_ = who;
  return {};
}

void Calls::remove(Call& call) {
  if (const auto count = counts_.find(std::exchange(call.counted_as_, {})); count != counts_.end())
    if (--count->second == 0) counts_.erase(count);
  calls_.erase(call.shared_from_this());
}

void Calls::close(const Status& why) {
  closed_ = why;
  if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
  for (const auto& call : std::vector(calls_.begin(), calls_.end())) call->end(why);
}

void Calls::writes(Call& call, bool does) {
  if (does)
    writing_.insert(&call);
  else
    writing_.erase(&call);
}

void Calls::watchWrites() {
  timer_ = loop_.postAfter(limits_.write_timeout / 12, [this] {
    giveUpWrites();
    watchWrites();
  });
}

void Calls::giveUpWrites() {
  for (Call* const call : std::vector(writing_.begin(), writing_.end())) {
    if (loop_.now() - *call->writing_since_ < limits_.write_timeout || std::exchange(call->given_up_, true))
      continue;
    call->end({Code::kDeadlineExceeded, "nothing was read for " + secondsText(limits_.write_timeout) + " s"});
    call->cancel();
  }
}

}  // namespace pop::popdistd
