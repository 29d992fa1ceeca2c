// SPDX-License-Identifier: Apache-2.0
#include "popdistd/pods/holds.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "popdistd/pods/holder_id.h"
#include "popdistd/pods/pod_access.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::seconds kUntilBack{30};
constexpr std::chrono::seconds kUntilRemoved{90};  // longer than popctl tries to be back
constexpr std::size_t kMinTokenBytes = 16;
constexpr std::size_t kMaxTokenBytes = 128;
constexpr std::size_t kMaxHolderBytes = 256;

Status checkRequest(const v1::HoldRequest& request) {
  const std::string& token = request.token();
  const bool is_plain = std::all_of(token.begin(), token.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  if (!is_plain || token.size() < kMinTokenBytes || token.size() > kMaxTokenBytes)
    return invalidArgument("token is not 16 to 128 random letters and digits");
  if (!request.holder().empty() && request.holder().size() <= kMaxHolderBytes) return {};
  return invalidArgument("holder is not 1 to 256 bytes: say for people what holds the partition");
}

}  // namespace

class Holds::Held final : public Source<v1::HoldReply> {
 public:
  Held(Holds& holds, std::string token, std::string holder, Api::Ready ready)
      : holds_(holds), token_(std::move(token)), holder_(std::move(holder)), ready_(std::move(ready)) {
    holds_.held_[token_] = this;
  }
  ~Held() override {
    if (!ended_) holds_.letGo(token_, holder_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  std::optional<v1::HoldReply> next() override { return std::exchange(reply_, std::nullopt); }
  std::optional<Status> ended() const override { return reply_ ? std::nullopt : ended_; }

  void show(v1::HoldReply reply) {
    reply_ = std::move(reply);
    ready_();
  }
  /// It does not let go any more.
  void end(Status why) {
    holds_.held_.erase(token_);
    ended_ = std::move(why);
    ready_();
  }
  const std::string& holder() const { return holder_; }

 private:
  Holds& holds_;
  const std::string token_;
  const std::string holder_;
  const Api::Ready ready_;
  std::optional<v1::HoldReply> reply_;
  std::optional<Status> ended_;
};

Result<std::unique_ptr<Source<v1::HoldReply>>> Holds::hold(const Caller& caller,
                                                           const v1::HoldRequest& request, Api::Ready ready) {
  POP_RETURN_IF_ERROR(checkRequest(request));
  const std::string& id = request.partition();
  POP_RETURN_IF_ERROR(PodAccess::partitionFor(caller, id, partitions_.table()).status());
  if (held_.contains(request.token()))
    return Status(Code::kAlreadyExists, "the token is that of another stream: make a new one");
  const std::string holder = holderOf(request.token(), caller.user, printable(request.holder()));
  POP_RETURN_IF_ERROR(take(request, holder));
  expected_until_.erase(holder);
  auto held = std::make_unique<Held>(*this, request.token(), holder, std::move(ready));
  commits_.whenDurable([this, token = request.token(), id](const Status& status) {
    const auto found = held_.find(token);
    const vipu::Partition* const partition = partitions_.table().find(id);
    if (!status.ok() || found == held_.end() || partition == nullptr) return;  // told by endAll(), end()
    v1::HoldReply reply;
    *reply.mutable_partition() = partitions_.show(*partition);
    found->second->show(std::move(reply));
  });
  return std::unique_ptr<Source<v1::HoldReply>>(std::move(held));
}

Status Holds::take(const v1::HoldRequest& request, const std::string& holder) {
  const std::string& id = request.partition();
  const vipu::Partition& partition = *partitions_.table().find(id);
  if (!partition.job.empty() && partition.job != holder)
    return failedPrecondition("partition " + inQuotes(id) + " is held by " + holderText(partition.job));
  POP_ASSIGN_OR_RETURN(vipu::Change change, partitions_.table().bind(id, holder));
  if (request.remove()) {
    POP_ASSIGN_OR_RETURN(const vipu::Change goes, partitions_.table().goWithHolder(id));
    change.insert(change.end(), goes.begin(), goes.end());
  }
  return partitions_.keep(Result<vipu::Change>(std::move(change)));
}

void Holds::letGo(const std::string& token, const std::string& holder) {
  held_.erase(token);
  static_cast<void>(partitions_.keep(partitions_.table().unbind(holder)));
}

void Holds::end(const std::string& holder, const Status& why) {
  const std::string token = tokenOf(holder);
  expected_until_.erase(holder);
  static_cast<void>(partitions_.keep(partitions_.table().unbind(holder)));
  if (const auto found = held_.find(token); found != held_.end()) found->second->end(why);
}

void Holds::endAll(const Status& why) {
  while (!held_.empty()) held_.begin()->second->end(why);
}

void Holds::expect() {
  expected_until_.clear();
  for (const auto& [id, partition] : partitions_.table().partitions()) {
    if (!tokenOf(partition.job).empty()) expected_until_[partition.job] = loop_.now() + kUntilBack;
  }
}

void Holds::tick() {
  std::erase_if(expected_until_, [this](const auto& each) {
    if (loop_.now() < each.second) return false;
    const Status done = partitions_.keep(partitions_.table().unbind(each.first));
    return done.ok() || done.code() == Code::kNotFound;
  });
  removeLeftOver();
}

// A program that ends in order removes its partition; those of the others are removed after kUntilRemoved.
void Holds::removeLeftOver() {
  std::map<std::string, Clock::time_point> left;
  for (const auto& [id, partition] : partitions_.table().partitions()) {
    if (tokenOf(partition.goes_with).empty() || !partition.job.empty()) continue;
    const auto known = left_since_.find(id);
    left[id] = known != left_since_.end() ? known->second : loop_.now();
  }
  left_since_ = std::move(left);
  for (const auto& [id, since] : left_since_) {
    if (loop_.now() - since >= kUntilRemoved)
      static_cast<void>(partitions_.keep(partitions_.table().remove(id, false, partitions_.now())));
  }
}

}  // namespace pop::popdistd
