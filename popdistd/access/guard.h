// SPDX-License-Identifier: Apache-2.0
// Stands in front of the daemon's interfaces, for all transports: lets each call in or not, by the table of
// policy.h, and has those that change something written down. Ends streams of callers who may no more have
// them. On the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "popdistd/access/guarded_source.h"
#include "popdistd/access/policy.h"
#include "popdistd/api/api.h"

namespace pop::popdistd {

/// The audit log, as guarded interfaces see it.
class Audit {
 public:
  virtual ~Audit() = default;

  /// Writes a call and its outcome down, with what else is written in this turn of the loop.
  virtual void write(const Caller& caller, std::string_view method, const std::string& object,
                     const Status& outcome) = 0;
  /// Calls `done` once that is on the disk, or with why it is not.
  virtual void whenDurable(std::function<void(const Status&)> done) = 0;
};

/// The common part of guarded interfaces.
class Guard {
 public:
  /// `today`: the caller of an earlier moment as it is now, or why it is no caller any more; null: callers do
  /// not change.
  explicit Guard(Audit& audit, Today today = nullptr) : audit_(audit), today_(std::move(today)) {}

  Result<Caller> today(const Caller& caller) const {
    return today_ ? today_(caller) : Result<Caller>(caller);
  }

  /// Ends streams whose callers may no more have them. Call it every second.
  void look() {
    for (OpenStream* const each : std::set(open_)) {
      if (const Status may = mayToday(each->caller(), each->rule()); !may.ok()) each->end(may);
    }
  }

  /// Makes the call, `make(reply)`, if the caller may, and may change `object` meanwhile. The interface
  /// answers what changes something once that is durable: so what has been written down is durable with it,
  /// or neither is.
  template <typename T>
  void call(const Caller& caller, const Rule& rule, const std::string& object, Reply<T> reply,
            const std::function<void(Reply<T>)>& make) {
    if (const Status may = mayToday(caller, rule); !may.ok())
      return refuse(caller, rule, object, std::move(reply), may);
    if (!rule.is_audited) return make(std::move(reply));
    const auto outcome = std::make_shared<std::optional<Result<T>>>();
    const auto is_later = std::make_shared<bool>(false);
    make([outcome, is_later, reply](Result<T> result) {
      *is_later ? reply(std::move(result)) : static_cast<void>(outcome->emplace(std::move(result)));
    });
    *is_later = true;
    const Status how = *outcome ? (*outcome)->status() : Status();
    audit_.write(caller, rule.method, object, how);
    if (*outcome) answerLater(std::move(reply), std::move(**outcome));
  }

  template <typename T>
  void refuse(const Caller& caller, const Rule& rule, const std::string& object, Reply<T> reply,
              const Status& why) {
    if (!rule.is_audited) return reply(why);
    audit_.write(caller, rule.method, object, why);
    answerLater<T>(std::move(reply), why);
  }

  /// The same of what opens a stream, `make(ready)`. `to_read_on`: what that takes, after make(); null:
  /// `rule`.
  template <typename T>
  Result<std::unique_ptr<Source<T>>> open(
      const Caller& caller, const Rule& rule, const std::string& object, const Api::Ready& ready,
      const std::function<Result<std::unique_ptr<Source<T>>>(Api::Ready ready)>& make,
      const Rule* to_read_on = nullptr) {
    const Status may = mayToday(caller, rule);
    Result<std::unique_ptr<Source<T>>> source =
        may.ok() ? make(ready) : Result<std::unique_ptr<Source<T>>>(may);
    if (rule.is_audited) audit_.write(caller, rule.method, object, source.status());
    if (source.ok()) {
      auto guarded = std::make_unique<GuardedSource<T>>(
          open_, caller, to_read_on != nullptr ? *to_read_on : rule, std::move(*source), ready);
      if (rule.is_audited) audit_.whenDurable(guarded->wait());
      return std::unique_ptr<Source<T>>(std::move(guarded));
    }
    if (!rule.is_audited) return source;
    auto refused = std::make_unique<RefusedSource<T>>();
    audit_.whenDurable(
        [told = std::weak_ptr(refused->why()), why = source.status(), ready](const Status& written) {
          const auto end = told.lock();
          if (!end) return;
          *end = written.ok() ? why : written;
          ready();
        });
    return std::unique_ptr<Source<T>>(std::move(refused));
  }

 private:
  Status mayToday(const Caller& caller, const Rule& rule) const {
    POP_ASSIGN_OR_RETURN(const Caller now, today(caller));
    return checkMay(now, rule);
  }

  // An immediate answer is sent when its audit entry is durable.
  template <typename T>
  void answerLater(Reply<T> reply, Result<T> result) {
    audit_.whenDurable([reply = std::move(reply), result = std::move(result)](const Status& written) mutable {
      written.ok() ? reply(std::move(result)) : reply(written);
    });
  }

  Audit& audit_;
  const Today today_;
  std::set<OpenStream*> open_;
};

}  // namespace pop::popdistd
