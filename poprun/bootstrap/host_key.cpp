// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/host_key.h"

#include <libssh/libssh.h>

#include <memory>
#include <mutex>

namespace pop {
namespace {

// "ED25519 key SHA256:…" of the server.
std::string fingerprintOf(ssh_session session) {
  ssh_key key = nullptr;
  if (ssh_get_server_publickey(session, &key) != SSH_OK) return "unreadable key";
  unsigned char* hash = nullptr;
  std::size_t bytes = 0;
  std::string text = std::string(ssh_key_type_to_char(ssh_key_type(key))) + " key ";
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &bytes) == 0) {
    char* fingerprint = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, bytes);
    if (fingerprint != nullptr) text += fingerprint;
    ssh_string_free_char(fingerprint);
    ssh_clean_pubkey_hash(&hash);
  }
  ssh_key_free(key);
  return text;
}

std::string knownHostsOf(ssh_session session) {
  char* path = nullptr;
  if (ssh_options_get(session, SSH_OPTIONS_KNOWNHOSTS, &path) != SSH_OK || path == nullptr)
    return "~/.ssh/known_hosts";
  std::string text = path;
  ssh_string_free_char(path);
  return text.starts_with("%d/") ? "~/.ssh/" + text.substr(3) : text;
}

Status addToKnown(ssh_session session) {
  // Many hosts at a time append to one file.
  static std::mutex one_writer;
  const std::scoped_lock lock(one_writer);
  if (ssh_session_update_known_hosts(session) == SSH_OK) return {};
  return unavailable("adding its key to " + knownHostsOf(session) + ": " + ssh_get_error(session));
}

std::string scanCommand(const std::string& host, int port) {
  return "ssh-keyscan -H " + (port == 22 ? "" : "-p " + std::to_string(port) + ' ') + host;
}

std::string knownName(const std::string& host, int port) {
  return port == 22 ? host : "'[" + host + "]:" + std::to_string(port) + "'";
}

}  // namespace

Status checkHostKey(ssh_session_struct* session, const std::string& host, int port, HostKeyPolicy policy) {
  const ssh_known_hosts_e known = ssh_session_is_known_server(session);
  if (known == SSH_KNOWN_HOSTS_OK) return {};
  const std::string file = knownHostsOf(session);
  const std::string key = fingerprintOf(session);
  const std::string add = scanCommand(host, port) + " >> " + file;
  switch (known) {
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
      if (policy == HostKeyPolicy::kOff) return {};
      return {Code::kPermissionDenied,
              "its host key is not the one in " + file + ": the server has " + key +
                  ", so it was installed anew, or is another. If you know why, run: ssh-keygen -R " +
                  knownName(host, port) + " -f " + file + "; " + add};
    case SSH_KNOWN_HOSTS_UNKNOWN:
    case SSH_KNOWN_HOSTS_NOT_FOUND:
      if (policy != HostKeyPolicy::kStrict) return addToKnown(session);
      return {Code::kPermissionDenied, "its host key is not in " + file + ": it has " + key +
                                           ". When you have checked this fingerprint, run: " + add};
    default:
      return {Code::kPermissionDenied,
              "its host key cannot be checked: " + std::string(ssh_get_error(session))};
  }
}

}  // namespace pop
