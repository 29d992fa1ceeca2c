// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/accounts.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "common/tls/certificates.h"
#include "common/tls/peer_chain.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::hours kSessionLength{8};
constexpr std::chrono::seconds kUseIsNoted{60};
constexpr std::size_t kMostSessions = 1024;
constexpr std::size_t kMostChecked = 4096;
constexpr std::ptrdiff_t kMostSessionsOfOne = 32;

std::string fromText(const Peer& peer) {
  if (!peer.unix_user.empty()) return "the local socket";
  return peer.port.empty() ? peer.address : peer.address + " port " + peer.port;
}

// Guesses are counted by it.
std::string guesserOf(const Peer& peer) {
  return peer.unix_user.empty() ? peer.address : "Unix user " + peer.unix_user;
}

Status denied(std::string why) {
  return {kUnauthenticated, std::move(why)};
}

bool hasSecret(const Credentials& credentials) {
  return !credentials.authorization.empty() || !credentials.session.empty() ||
         !credentials.api_user_id.empty() || !credentials.api_access_key.empty();
}

}  // namespace

Result<Caller> Accounts::identify(const Peer& peer, const Credentials& credentials) {
  const std::scoped_lock lock(mutex_);
  Result<Caller> caller = hasSecret(credentials) ? bySecret(peer, credentials) : byConnection(peer);
  if (caller.ok()) caller->peer = fromText(peer);
  return caller;
}

Result<Caller> Accounts::byConnection(const Peer& peer) const {
  if (!peer.unix_user.empty()) {
    return Caller{
        .user = peer.unix_user, .role = roleLocked(peer.unix_user), .known_by = v1::KNOWN_BY_SOCKET};
  }
  if (!peer.has_tls) {
    return Caller{.user = settings_.own_user, .role = v1::ROLE_ADMIN, .known_by = v1::KNOWN_BY_HOST};
  }
  if (peer.uris.empty() && peer.names.empty())
    return denied(
        "nothing says who you are: show a certificate (--tls), or a token (--token-file), which popctl "
        "create token makes");
  POP_ASSIGN_OR_RETURN(std::string user, tls::userFromUris(peer.uris));
  POP_RETURN_IF_ERROR(checkCertificate(peer.certificate));
  const v1::Role role = roleLocked(user);
  return Caller{.user = std::move(user),
                .role = role,
                .known_by = v1::KNOWN_BY_CERTIFICATE,
                .certificate = peer.certificate};
}

// A correct secret is accepted however many wrong ones come from its address: many users may share an
// address, and guessing does not find a secret.
Result<Caller> Accounts::bySecret(const Peer& peer, const Credentials& credentials) {
  const Time now = settings_.clock();
  Result<Caller> caller = !credentials.authorization.empty() ? byToken(credentials.authorization)
                          : !credentials.session.empty()     ? bySession(credentials.session)
                                                             : byVipuKey(credentials);
  if (caller.ok()) return caller;
  POP_RETURN_IF_ERROR(failed_.check(guesserOf(peer), now));
  failed_.failed(guesserOf(peer), now);
  return caller;
}

Result<Caller> Accounts::byToken(const std::string& authorization) {
  const std::optional<std::string> token = tokenOfAuthorization(authorization);
  if (!token)
    return denied("the header authorization is not \"Bearer pop_…\", with a token of popctl create token");
  const std::string digest = digestOfSecret(*token);
  const auto found = tokens_.find(tokenId(digest));
  if (found == tokens_.end() || found->second.digest() != digest)
    return denied("popdistd does not know this token: it was removed, or is another popdistd's");
  return callerWith(found->second, v1::KNOWN_BY_TOKEN);
}

Result<Caller> Accounts::bySession(const std::string& secret) {
  const auto session = sessions_.find(digestOfSecret(secret));
  if (session == sessions_.end() || session->second.expires <= settings_.clock())
    return denied("the session has ended: log in again");
  const auto token = tokens_.find(session->second.token);
  if (token == tokens_.end()) return denied("the session's token was removed: log in with another one");
  POP_ASSIGN_OR_RETURN(Caller caller, callerWith(token->second, v1::KNOWN_BY_SESSION));
  caller.session = session->first;
  return caller;
}

Result<Caller> Accounts::byVipuKey(const Credentials& credentials) const {
  const auto user = users_.find(credentials.api_user_id);
  const bool is_right = user != users_.end() && !user->second.vipu_key_digest().empty() &&
                        user->second.vipu_key_digest() == digestOfSecret(credentials.api_access_key);
  if (!is_right)
    return denied("api-access-key is not that of api-user-id " + inQuotes(credentials.api_user_id) +
                  ": popctl create user NAME --vipu-key makes one");
  Caller caller{.user = user->first, .role = roleLocked(user->first), .known_by = v1::KNOWN_BY_VIPU_KEY};
  caller.key = user->second.vipu_key_digest();
  return caller;
}

// The caller has its user's present role, but no more than the token's scope.
Result<Caller> Accounts::callerWith(v1::TokenRecord& token, v1::KnownBy how) {
  v1::TokenInfo& info = *token.mutable_info();
  const std::int64_t now_s = timestamp(settings_.clock()).seconds();
  if (info.expires().seconds() <= now_s)
    return denied("the token " + info.id() + " has expired: make a new one");
  if (info.last_used().seconds() + kUseIsNoted.count() <= now_s) {
    info.mutable_last_used()->set_seconds(now_s);
    used_.insert(info.id());
  }
  return Caller{.user = info.user(),
                .role = std::min(info.scope(), roleLocked(info.user())),
                .known_by = how,
                .token = info.id(),
                .session = {}};
}

Result<Caller> Accounts::today(const Caller& caller) const {
  const std::scoped_lock lock(mutex_);
  Caller now = caller;
  if (caller.known_by == v1::KNOWN_BY_NOTHING || caller.known_by == v1::KNOWN_BY_HOST) return now;
  POP_RETURN_IF_ERROR(checkCertificate(caller.certificate));
  now.role = roleLocked(caller.user);
  if (caller.known_by == v1::KNOWN_BY_VIPU_KEY) {
    const auto user = users_.find(caller.user);
    if (user == users_.end() || user->second.vipu_key_digest() != caller.key)
      return denied("the key of user " + inQuotes(caller.user) + " has ended, or there is a new one");
  }
  if (caller.token.empty()) return now;
  const auto token = tokens_.find(caller.token);
  if (token == tokens_.end()) return denied("the token " + caller.token + " was removed");
  if (token->second.info().expires().seconds() <= timestamp(settings_.clock()).seconds())
    return denied("the token " + caller.token + " has expired: make a new one");
  if (caller.known_by == v1::KNOWN_BY_SESSION) {
    const auto session = sessions_.find(caller.session);
    if (session == sessions_.end() || session->second.expires <= settings_.clock())
      return denied("the session has ended: log in again");
  }
  now.role = std::min(token->second.info().scope(), now.role);
  return now;
}

Status Accounts::isStillGood(const Peer& peer) const {
  const std::scoped_lock lock(mutex_);
  return checkCertificate(peer.certificate);
}

void Accounts::setAuthority(const std::string& authority_pem) {
  const std::scoped_lock lock(mutex_);
  authority_ = authority_pem;
  checked_.clear();
}

// A signature takes long to check, so that is done once for each certificate and authority.
Status Accounts::checkCertificate(const std::string& certificate) const {
  if (certificate.empty() || authority_.empty()) return {};
  if (checked_.size() >= kMostChecked) checked_.clear();
  auto found = checked_.find(certificate);
  if (found == checked_.end())
    found = checked_.emplace(certificate, tls::goodUntil(certificate, authority_)).first;
  const Result<std::time_t>& until = found->second;
  if (!until.ok()) return denied(until.status().message() + ": show a new one");
  if (std::chrono::system_clock::from_time_t(until.value()) > settings_.clock()) return {};
  return denied("the certificate of this connection, or its authority's, has expired: show a new one");
}

v1::Role Accounts::roleOf(const std::string& user) const {
  const std::scoped_lock lock(mutex_);
  return roleLocked(user);
}

bool Accounts::isFixed(const std::string& user) const {
  return user == settings_.own_user || settings_.admins.contains(user);
}

std::set<std::string> Accounts::fixed() const {
  std::set<std::string> names = settings_.admins;
  names.insert(settings_.own_user);
  return names;
}

v1::Role Accounts::roleLocked(const std::string& user) const {
  if (isFixed(user)) return v1::ROLE_ADMIN;
  const auto found = users_.find(user);
  return found == users_.end() ? settings_.usual_role : found->second.info().role();
}

// ---- sessions

Result<std::string> Accounts::beginSession(const std::string& token, const Peer& peer) {
  const std::scoped_lock lock(mutex_);
  POP_ASSIGN_OR_RETURN(const Caller caller, bySecret(peer, {.authorization = "Bearer " + token}));
  const Time now = settings_.clock();
  std::erase_if(sessions_, [now](const auto& each) { return each.second.expires <= now; });
  // Per-user limit: the user's oldest session is removed first.
  const auto is_own = [&caller](const auto& each) { return each.second.user == caller.user; };
  const bool has_many = std::count_if(sessions_.begin(), sessions_.end(), is_own) >= kMostSessionsOfOne;
  if (has_many || sessions_.size() >= kMostSessions) {
    const auto goes_before = [&](const auto& a, const auto& b) {
      if (has_many && is_own(a) != is_own(b)) return is_own(a);
      return a.second.expires < b.second.expires;
    };
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(), goes_before));
  }
  std::string secret = makeSecret(settings_.random_name);
  sessions_[digestOfSecret(secret)] = {caller.token, caller.user, now + kSessionLength};
  return secret;
}

void Accounts::endSession(const std::string& secret) {
  const std::scoped_lock lock(mutex_);
  sessions_.erase(digestOfSecret(secret));
}

// ---- what is stored

Status Accounts::load(Store& store) {
  POP_ASSIGN_OR_RETURN(const std::vector<NamedRecord> users, store.records(RecordKind::kUser));
  POP_ASSIGN_OR_RETURN(const std::vector<NamedRecord> tokens, store.records(RecordKind::kToken));
  std::map<std::string, v1::UserRecord> read_users;
  std::map<std::string, v1::TokenRecord> read_tokens;
  for (const NamedRecord& each : users) {
    if (!read_users[each.name].ParseFromString(each.bytes) ||
        read_users[each.name].info().name() != each.name)
      return {Code::kDataLoss, "the store's record of user " + inQuotes(each.name) + " cannot be read"};
  }
  for (const NamedRecord& each : tokens) {
    if (!read_tokens[each.name].ParseFromString(each.bytes) ||
        read_tokens[each.name].info().id() != each.name)
      return {Code::kDataLoss, "the store's record of token " + inQuotes(each.name) + " cannot be read"};
  }
  const std::scoped_lock lock(mutex_);
  users_ = std::move(read_users);
  tokens_ = std::move(read_tokens);
  used_.clear();
  return {};
}

void Accounts::setUser(const v1::UserRecord& user) {
  const std::scoped_lock lock(mutex_);
  users_[user.info().name()] = user;
}

void Accounts::removeUser(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  users_.erase(name);
}

void Accounts::setToken(const v1::TokenRecord& token) {
  const std::scoped_lock lock(mutex_);
  tokens_[token.info().id()] = token;
}

void Accounts::removeToken(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  tokens_.erase(id);
  used_.erase(id);
}

std::vector<v1::UserRecord> Accounts::users() const {
  const std::scoped_lock lock(mutex_);
  std::vector<v1::UserRecord> all;
  for (const auto& [name, user] : users_) all.push_back(user);
  return all;
}

std::vector<v1::TokenRecord> Accounts::tokens() const {
  const std::scoped_lock lock(mutex_);
  std::vector<v1::TokenRecord> all;
  for (const auto& [id, token] : tokens_) all.push_back(token);
  return all;
}

std::vector<v1::TokenRecord> Accounts::takeUsed() {
  const std::scoped_lock lock(mutex_);
  std::vector<v1::TokenRecord> used;
  for (const std::string& id : std::exchange(used_, {})) used.push_back(tokens_.at(id));
  return used;
}

}  // namespace pop::popdistd
