// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_auth.h"

#include <libssh/libssh.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "poprun/bootstrap/ssh/libssh_drive.h"
#include "poprun/bootstrap/ssh/ssh_agent.h"

namespace pop {
namespace {

struct FreeKey {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

// Records every attempt: if all fail, the user must know what was tried.
class Attempts {
 public:
  Attempts(ssh_session session, const Wait& wait) : session_(session), wait_(wait) {}

  // True: the server accepts the key.
  Result<bool> tryFile(const std::string& path) {
    if (::access(path.c_str(), R_OK) != 0) {
      tried_.push_back(path + " (cannot be read)");
      some_unusable_ = true;
      return false;
    }
    ssh_key loaded = nullptr;
    if (ssh_pki_import_privkey_file(path.c_str(), "", nullptr, nullptr, &loaded) != SSH_OK) {
      tried_.push_back(path + " (no key, or one with a passphrase: run ssh-add " + path + ")");
      some_unusable_ = true;
      return false;
    }
    const Key key(loaded);
    tried_.push_back(path);
    // Signs at once: asking first whether the server accepts the key costs it a look-up and us a round trip.
    return accepted(driveSsh(session_, SSH_AUTH_AGAIN, wait_,
                             [&] { return ssh_userauth_publickey(session_, nullptr, key.get()); }));
  }

  // `named` as in SshHostConfig.
  Result<bool> tryAgent(const std::string& named) {
    const bool is_variable = named.starts_with('$');
    const std::string setting = is_variable ? named.substr(1) : "IdentityAgent";
    const char* value = is_variable ? std::getenv(setting.c_str()) : named.c_str();
    const std::string path = value == nullptr ? "" : value;
    if (path.empty() || path == "none") {
      tried_.push_back("no ssh-agent (" + setting + (path.empty() ? " is not set)" : " is none)"));
      return false;
    }
    const auto agent = AgentConnection::open(path, wait_);
    if (agent.code() == Code::kCancelled) return agent.status();
    if (!agent.ok()) {
      const bool listens =
          agent.code() == Code::kDeadlineExceeded || agent.code() == Code::kResourceExhausted;
      tried_.push_back("the ssh-agent at " + path + " (" +
                       (listens ? "it does not answer" : agent.status().message()) + ": " + setting + ')');
      return false;
    }
    tried_.push_back("the keys of ssh-agent");
    return signedBy(*agent.value());
  }

  // For hosts without a key to try. Some servers let any user in.
  Result<bool> tryNone() {
    if (ssh_userauth_list(session_, nullptr) != 0) return false;
    return accepted(
        driveSsh(session_, SSH_AUTH_AGAIN, wait_, [&] { return ssh_userauth_none(session_, nullptr); }));
  }

  // The ways in that the server offers, and libssh does not try; its answer to any attempt has them.
  std::set<std::string> otherWays() const {
    const auto methods = static_cast<unsigned>(ssh_userauth_list(session_, nullptr));
    std::set<std::string> names;
    if ((methods & SSH_AUTH_METHOD_HOSTBASED) != 0) names.insert("hostbased");
    if ((methods & SSH_AUTH_METHOD_GSSAPI_MIC) != 0) names.insert("gssapi");
    return names;
  }

  bool someFileUnusable() const { return some_unusable_; }
  std::string tried() const { return join(tried_, ", "); }

 private:
  Result<bool> signedBy(AgentConnection& agent) {
    sys::Fd connection = agent.share();
    if (!connection.valid() || ssh_set_agent_socket(session_, connection.get()) != SSH_OK)
      return internalError("ssh-agent cannot be used: " + std::string(ssh_get_error(session_)));
    static_cast<void>(connection.release());  // libssh closes it
    const Result<int> outcome =
        driveSsh(session_, SSH_AUTH_AGAIN, wait_, [&] { return ssh_userauth_agent(session_, nullptr); });
    const Status ended = agent.finish();
    // libssh reports a closed connection to the agent as an agent that does not sign.
    const bool was_agent = outcome.ok() && outcome.value() != SSH_AUTH_SUCCESS && !ended.ok();
    if (!was_agent) return accepted(outcome);
    return Status(ended).during(
        "waiting for ssh-agent to sign (does it ask for confirmation, as after ssh-add -c?)");
  }

  Result<bool> accepted(const Result<int>& outcome) {
    if (!outcome.ok()) return outcome.status();
    if (outcome.value() == SSH_AUTH_SUCCESS) return true;
    if (ssh_is_connected(session_) == 0) {
      return unavailable("the server closed the connection: " + std::string(ssh_get_error(session_)));
    }
    return false;
  }

  ssh_session session_;
  const Wait& wait_;
  std::vector<std::string> tried_;
  bool some_unusable_ = false;
};

constexpr const char* kOtherWays =
    ". Its server also accepts hosts or Kerberos: if `ssh` can log in there, use --rsh ssh";

bool isSecurityKey(const std::string& file) {
  const Result<std::string> public_key = sys::readFile(file + ".pub");
  return public_key.ok() && public_key.value().starts_with("sk-");
}

// Ways in that libssh does not try: other methods, a connection that another ssh holds open, keys on a
// security token.
bool sshMayDoMore(const SshHostConfig& config, const std::set<std::string>& other_ways) {
  const bool other_way = std::any_of(config.logins.begin(), config.logins.end(),
                                     [&](const std::string& each) { return other_ways.contains(each); });
  std::vector<std::string> keys = config.identity_files;
  if (keys.empty()) keys = {sshHome() + "/.ssh/id_ed25519_sk", sshHome() + "/.ssh/id_ecdsa_sk"};
  return other_way || config.shares_connections || std::any_of(keys.begin(), keys.end(), isSecurityKey);
}

}  // namespace

Status authenticate(ssh_session_struct* session, const std::string& who, const SshHostConfig& config,
                    const Wait& wait) {
  Attempts attempts(session, wait);
  for (const std::string& file : config.identity_files) {
    POP_ASSIGN_OR_RETURN(const bool in, attempts.tryFile(file));
    if (in) return {};
  }
  // The agent may hold a key whose file is protected by a passphrase.
  if (!config.identities_only || attempts.someFileUnusable() || config.identity_files.empty()) {
    POP_ASSIGN_OR_RETURN(const bool by_agent, attempts.tryAgent(config.identity_agent));
    if (by_agent) return {};
  }
  if (config.identity_files.empty()) {
    for (const std::string& file : usualIdentityFiles()) {
      if (::access(file.c_str(), F_OK) != 0) continue;
      POP_ASSIGN_OR_RETURN(const bool in, attempts.tryFile(file));
      if (in) return {};
    }
  }
  POP_ASSIGN_OR_RETURN(const bool without_any, attempts.tryNone());
  if (without_any) return {};
  const std::set<std::string> other_ways = attempts.otherWays();
  const std::string why = "no key is accepted for " + who + " (tried: " + attempts.tried() + ')';
  if (sshMayDoMore(config, other_ways)) return {Code::kUnimplemented, why};
  return {Code::kPermissionDenied,
          why + "; check the user, or run: ssh-copy-id " + who + (other_ways.empty() ? "" : kOtherWays)};
}

}  // namespace pop
