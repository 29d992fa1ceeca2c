// SPDX-License-Identifier: Apache-2.0
// AccessApi: users, tokens and the audit log, in the store and in memory. Behind the guard; whose tokens a
// caller may see and remove is decided here. On the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/loop.h"
#include "popdistd/access/accounts.h"
#include "popdistd/access/audit_log.h"
#include "popdistd/api/access_api.h"
#include "popdistd/common/commits.h"

namespace pop::popdistd {

class AccessService final : public AccessApi {
 public:
  struct Parts {
    Loop& loop;
    Store& store;
    Commits& commits;
    Accounts& accounts;
    const AuditLog& audit;
    WallClock clock;
    RandomName random_name;
    std::function<void()> roles_changed;  ///< of a user; null: no listener
  };

  explicit AccessService(Parts parts) : parts_(std::move(parts)) {}

  /// Stores when tokens were last used. Call it every minute.
  void noteUses();

#define CALL(Name, member, Request, Answer, ...) \
  void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) override;
#include "proto/calls/access.def"

 private:
  Result<v1::CreateUserReply> makeUser(const Caller& caller, const v1::CreateUserRequest& request);
  Result<v1::CreateTokenReply> makeToken(const Caller& caller, const v1::CreateTokenRequest& request);
  Status dropUser(const std::string& name);
  Status dropToken(const Caller& caller, const std::string& id);
  void dropOldTokens();
  void dropTokenRecord(const std::string& id);
  v1::UserInfo shown(const v1::UserRecord& user) const;
  template <typename T>
  void answer(Result<T> made, Reply<T> reply);
  template <typename T>
  void answerInPieces(const std::shared_ptr<AuditLog::Step<T>>& step, Reply<T> reply);

  const Parts parts_;
  const std::shared_ptr<bool> is_there_ = std::make_shared<bool>(true);  ///< for what is posted
};

}  // namespace pop::popdistd
