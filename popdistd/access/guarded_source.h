// SPDX-License-Identifier: Apache-2.0
// Streams behind the guard: one that begins once it has been written down, and ends when its caller may no
// more have it; and one that was refused, whose end is told once the refusal has been written down.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "popdistd/access/policy.h"
#include "popdistd/api/api.h"

namespace pop::popdistd {

/// A stream that is being read.
class OpenStream {
 public:
  /// `rule`: what it takes to read on.
  OpenStream(std::set<OpenStream*>& open, Caller caller, const Rule& rule)
      : open_(open), caller_(std::move(caller)), rule_(rule) {
    open_.insert(this);
  }
  virtual ~OpenStream() { open_.erase(this); }
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

  const Caller& caller() const { return caller_; }
  const Rule& rule() const { return rule_; }
  virtual void end(const Status& why) = 0;

 private:
  std::set<OpenStream*>& open_;
  const Caller caller_;
  const Rule rule_;
};

template <typename T>
class GuardedSource final : public Source<T>, public OpenStream {
 public:
  GuardedSource(std::set<OpenStream*>& open, Caller caller, const Rule& rule,
                std::unique_ptr<Source<T>> inner, Api::Ready ready)
      : OpenStream(open, std::move(caller), rule), inner_(std::move(inner)), ready_(std::move(ready)) {}

  /// Nothing comes, and it does not end by itself, until what this returns is called: then it begins, or ends
  /// with the error. That may outlive it.
  std::function<void(const Status&)> wait() {
    waits_ = std::make_shared<bool>(true);
    return [still = std::weak_ptr(waits_), this](const Status& begins) {
      const auto waits = still.lock();
      if (!waits) return;
      *waits = false;
      begins.ok() ? ready_() : end(begins);
    };
  }

  std::optional<T> next() override {
    return inner_ == nullptr || isWaiting() ? std::nullopt : inner_->next();
  }
  std::optional<Status> ended() const override {
    if (inner_ == nullptr) return why_;
    return isWaiting() ? std::nullopt : inner_->ended();
  }

  void end(const Status& why) override {
    if (inner_ == nullptr) return;
    why_ = why;
    inner_ = nullptr;
    ready_();
  }

 private:
  bool isWaiting() const { return waits_ && *waits_; }

  std::unique_ptr<Source<T>> inner_;  ///< null: it was ended
  const Api::Ready ready_;
  std::optional<Status> why_;
  std::shared_ptr<bool> waits_;
};

template <typename T>
class RefusedSource final : public Source<T> {
 public:
  std::optional<T> next() override { return std::nullopt; }
  std::optional<Status> ended() const override { return *why_; }

  /// The place for the end's status.
  const std::shared_ptr<std::optional<Status>>& why() const { return why_; }

 private:
  const std::shared_ptr<std::optional<Status>> why_ = std::make_shared<std::optional<Status>>();
};

}  // namespace pop::popdistd
