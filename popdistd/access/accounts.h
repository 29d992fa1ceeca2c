// SPDX-License-Identifier: Apache-2.0
// Users with their roles, tokens and sessions, in memory: identifies callers and their rights. AccessService
// writes them to the store. From any thread.
#pragma once

#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "popdistd/access/failed_logins.h"
#include "popdistd/access/secrets.h"
#include "popdistd/api/caller.h"
#include "popdistd/common/store.h"
#include "popdistd/common/wall_clock.h"

namespace pop::popdistd {

class Accounts {
 public:
  struct Settings {
    std::string own_user;                   ///< of popdistd: an admin, and who calls where there is no TLS
    std::set<std::string> admins;           ///< whatever is stored
    v1::Role usual_role = v1::ROLE_SUBMIT;  ///< of users who are stored nowhere
    WallClock clock = [] { return std::chrono::system_clock::now(); };
    RandomName random_name;
  };

  explicit Accounts(Settings settings) : settings_(std::move(settings)) {}

  /// As Identify. A request's own credentials come before its connection's, and wrong ones are an error.
  Result<Caller> identify(const Peer& peer, const Credentials& credentials);

  /// The caller of an earlier moment, by what it was known by, as it is now. kUnauthenticated: its
  /// certificate, token or session has ended.
  Result<Caller> today(const Caller& caller) const;

  /// IsStillGood: the certificate has not expired, and one of the authorities of today has signed it.
  Status isStillGood(const Peer& peer) const;
  /// In PEM form; empty, as at first: there is no TLS.
  void setAuthority(const std::string& authority_pem);

  v1::Role roleOf(const std::string& user) const;
  /// By popdistd's options.
  bool isFixed(const std::string& user) const;
  std::set<std::string> fixed() const;

  // ---- sessions of browsers, which end with the process

  /// Returns the session's secret to the owner of a token. The session ends after 8 hours, or with the token.
  Result<std::string> beginSession(const std::string& token, const Peer& peer);
  void endSession(const std::string& secret);

  // ---- what is stored

  /// Replaces everything but sessions. kDataLoss: a record cannot be read.
  Status load(Store& store);
  void setUser(const v1::UserRecord& user);
  void removeUser(const std::string& name);
  void setToken(const v1::TokenRecord& token);
  void removeToken(const std::string& id);
  std::vector<v1::UserRecord> users() const;
  std::vector<v1::TokenRecord> tokens() const;
  /// Those whose last use is not stored yet.
  std::vector<v1::TokenRecord> takeUsed();

 private:
  using Time = std::chrono::system_clock::time_point;
  struct Session {
    std::string token;  ///< its id
    std::string user;
    Time expires;
  };

  Status checkCertificate(const std::string& certificate) const;
  v1::Role roleLocked(const std::string& user) const;
  Result<Caller> byConnection(const Peer& peer) const;
  Result<Caller> bySecret(const Peer& peer, const Credentials& credentials);
  Result<Caller> byToken(const std::string& authorization);
  Result<Caller> bySession(const std::string& secret);
  Result<Caller> byVipuKey(const Credentials& credentials) const;
  Result<Caller> callerWith(v1::TokenRecord& token, v1::KnownBy how);

  const Settings settings_;
  mutable std::mutex mutex_;
  std::map<std::string, v1::UserRecord> users_;
  std::map<std::string, v1::TokenRecord> tokens_;  ///< by id
  std::map<std::string, Session> sessions_;        ///< by the digest of their secrets
  std::set<std::string> used_;                     ///< ids of tokens
  FailedLogins failed_;
  std::string authority_;
  /// Until when certificates are good by it, as they were found.
  mutable std::map<std::string, Result<std::time_t>> checked_;
};

}  // namespace pop::popdistd
