// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_session.h"

#include <libssh/libssh.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "poprun/bootstrap/ssh/host_key.h"
#include "poprun/bootstrap/ssh/known_hosts.h"
#include "poprun/bootstrap/ssh/libssh_drive.h"
#include "poprun/bootstrap/ssh/ssh_auth.h"

namespace pop {
namespace {

constexpr int kSshPort = 22;
constexpr const char* kSystemKnownHosts = "/etc/ssh/ssh_known_hosts";

// For both directions, where libssh distinguishes them.
constexpr std::array<std::pair<std::string_view, ssh_options_e>, 8> kAlgorithmOptions{{
    {"ciphers", SSH_OPTIONS_CIPHERS_C_S},
    {"ciphers", SSH_OPTIONS_CIPHERS_S_C},
    {"macs", SSH_OPTIONS_HMAC_C_S},
    {"macs", SSH_OPTIONS_HMAC_S_C},
    {"kexalgorithms", SSH_OPTIONS_KEY_EXCHANGE},
    {"hostkeyalgorithms", SSH_OPTIONS_HOSTKEYS},
    {"pubkeyacceptedalgorithms", SSH_OPTIONS_PUBLICKEY_ACCEPTED_TYPES},
    {"compression", SSH_OPTIONS_COMPRESSION},
}};

// The key types that libssh 0.10 accepts from a server, the best first.
constexpr std::array kUsualKeyTypes{"ssh-ed25519", "ecdsa-sha2-nistp521", "ecdsa-sha2-nistp384",
                                    "ecdsa-sha2-nistp256", "ssh-rsa"};

std::string firstOf(std::string first, std::string second, std::string third = {}) {
  if (!first.empty()) return first;
  return second.empty() ? third : second;
}

// One packet's worth; more would only be buffered in libssh.
constexpr std::size_t kWriteBytes = 32 << 10;

std::string option(ssh_session session, ssh_options_e name) {
  char* text = nullptr;
  if (ssh_options_get(session, name, &text) != SSH_OK || text == nullptr) return {};
  std::string value = text;
  ssh_string_free_char(text);
  return value;
}

}  // namespace

void SshSession::FreeSession::operator()(ssh_session_struct* session) const {
  ssh_disconnect(session);
  ssh_free(session);
}

void SshSession::FreeEvent::operator()(ssh_event_struct* event) const {
  ssh_event_free(event);
}

SshSession::SshSession(SshTarget target, const SshOptions& options, SshHostConfig config)
    : target_(std::move(target)), options_(options), config_(std::move(config)) {
  static std::once_flag once;
  std::call_once(once, [] { ssh_init(); });
  session_.reset(ssh_new());
  POP_CHECK(session_ != nullptr);
}

SshSession::~SshSession() {
  if (event_) ssh_event_remove_session(event_.get(), session_.get());
}

// Sets every option, so that libssh decides nothing by itself.
Status SshSession::configure() {
  ssh_session session = session_.get();
  const int off = 0;
  const int on = 1;
  if (!options_.config_file.empty() && ::access(options_.config_file.c_str(), R_OK) != 0)
    return errnoStatus("reading " + options_.config_file, errno);
  const std::string& host = config_.host_name.empty() ? target_.host : config_.host_name;
  if (ssh_options_set(session, SSH_OPTIONS_HOST, host.c_str()) != SSH_OK)
    return invalidArgument(inQuotes(host) + " is not a host name that libssh accepts");
  bool ok = ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &off) == SSH_OK &&
            ssh_options_set(session, SSH_OPTIONS_STRICTHOSTKEYCHECK, &on) == SSH_OK;
  const std::string user = firstOf(target_.user, options_.user, config_.user);
  if (ok && !user.empty()) ok = ssh_options_set(session, SSH_OPTIONS_USER, user.c_str()) == SSH_OK;
  const auto port = static_cast<unsigned>(target_.port != 0    ? target_.port
                                          : options_.port != 0 ? options_.port
                                          : config_.port != 0  ? config_.port
                                                               : kSshPort);
  ok = ok && ssh_options_set(session, SSH_OPTIONS_PORT, &port) == SSH_OK;
  known_hosts_ = {
      firstOf(options_.known_hosts_file, config_.known_hosts_file, sshHome() + "/.ssh/known_hosts"),
      firstOf(config_.global_known_hosts_file, kSystemKnownHosts)};
  ok = ok && ssh_options_set(session, SSH_OPTIONS_KNOWNHOSTS, known_hosts_[0].c_str()) == SSH_OK &&
       ssh_options_set(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, known_hosts_[1].c_str()) == SSH_OK;
  if (!ok) return invalidArgument("preparing the SSH session: " + errorText());
  if (!options_.identity_files.empty()) config_.identity_files = options_.identity_files;
  preferKnownKeys();
  for (const auto& [keyword, value] : config_.algorithms) POP_RETURN_IF_ERROR(setAlgorithms(keyword, value));
  return {};
}

// Otherwise the server might present a key of another type than the known one.
void SshSession::preferKnownKeys() {
  std::vector<std::string> wanted = knownKeyTypes(knownName(host(), port()), known_hosts_);
  if (wanted.empty()) return;
  for (const char* usual : kUsualKeyTypes) {
    if (std::find(wanted.begin(), wanted.end(), usual) == wanted.end()) wanted.emplace_back(usual);
  }
  std::string algorithms = join(wanted, ",");
  if (const std::size_t rsa = algorithms.find("ssh-rsa"); rsa != std::string::npos)
    algorithms.replace(rsa, std::strlen("ssh-rsa"), "rsa-sha2-512,rsa-sha2-256");  // of the same key
  // If libssh supports none of them, it keeps its own order.
  static_cast<void>(ssh_options_set(session_.get(), SSH_OPTIONS_HOSTKEYS, algorithms.c_str()));
}

Status SshSession::setAlgorithms(const std::string& keyword, const std::string& value) {
  for (const auto& [name, option] : kAlgorithmOptions) {
    if (name == keyword && ssh_options_set(session_.get(), option, value.c_str()) != SSH_OK)
      return failedPrecondition("libssh supports none of `" + keyword + ' ' + value +
                                "` from the SSH configuration; use --rsh ssh");
  }
  return {};
}

std::string SshSession::host() const {
  return option(session_.get(), SSH_OPTIONS_HOST);
}

int SshSession::port() const {
  unsigned value = 22;
  ssh_options_get_port(session_.get(), &value);
  return static_cast<int>(value);
}

std::string SshSession::errorText() const {
  return std::string(trimmed(ssh_get_error(session_.get())));
}

Status SshSession::open(sys::Fd socket, Wait& wait, const PhaseReport& phase) {
  ssh_session session = session_.get();
  socket_ = std::move(socket);  // libssh never closes what it was given
  const socket_t fd = socket_.get();
  if (ssh_options_set(session, SSH_OPTIONS_FD, &fd) != SSH_OK) return internalError(errorText());
  ssh_set_blocking(session, 0);
  phase("ssh key exchange");
  const Result<int> connected =
      driveSsh(session, SSH_AGAIN, wait, [session] { return ssh_connect(session); });
  if (!connected.ok()) return Status(connected.status()).during("exchanging SSH keys");
  if (connected.value() != SSH_OK) return unavailable("the SSH key exchange failed: " + errorText());
  phase("checking the host key");
  const HostKeyPolicy policy =
      options_.host_keys.value_or(config_.host_keys.value_or(HostKeyPolicy::kStrict));
  POP_RETURN_IF_ERROR(checkHostKey(session, host(), port(), policy, known_hosts_));
  phase("authenticating");
  std::string user = option(session, SSH_OPTIONS_USER);
  const std::string who = (user.empty() ? "" : user + '@') + target_.host;
  return authenticate(session, who, config_, wait).during("authenticating");
}

Status SshSession::execute(const std::string& command, Wait& wait) {
  ssh_session session = session_.get();
  channel_ = ssh_channel_new(session);
  if (channel_ == nullptr) return internalError(errorText());
  const auto failed = [this](const Result<int>& outcome) {
    if (!outcome.ok()) return outcome.status();
    return outcome.value() == SSH_OK ? Status() : unavailable("starting a command there: " + errorText());
  };
  POP_RETURN_IF_ERROR(
      failed(driveSsh(session, SSH_AGAIN, wait, [this] { return ssh_channel_open_session(channel_); })));
  POP_RETURN_IF_ERROR(failed(driveSsh(session, SSH_AGAIN, wait,
                                      [&] { return ssh_channel_request_exec(channel_, command.c_str()); })));
  event_.reset(ssh_event_new());
  POP_CHECK(event_ != nullptr && ssh_event_add_session(event_.get(), session) == SSH_OK);
  return {};
}

int SshSession::fd() const {
  return ssh_get_fd(session_.get());
}

bool SshSession::hasUnsent() const {
  return (ssh_get_poll_flags(session_.get()) & SSH_WRITE_PENDING) != 0;
}

bool SshSession::receive() {
  // Uses an event, because the channel's own functions stop reading the socket at the end of the output.
  return ssh_event_dopoll(event_.get(), 0) != SSH_ERROR && isConnected();
}

bool SshSession::isConnected() const {
  return ssh_is_connected(session_.get()) != 0;
}

int SshSession::read(char* room, int bytes, bool is_stderr) {
  return std::max(
      0, ssh_channel_read_nonblocking(channel_, room, static_cast<std::uint32_t>(bytes), is_stderr ? 1 : 0));
}

int SshSession::write(std::string_view bytes) {
  const std::size_t window = ssh_channel_window_size(channel_);
  const std::size_t count = std::min({bytes.size(), window, kWriteBytes});
  if (count == 0 || hasUnsent() || ssh_channel_is_open(channel_) == 0) return 0;
  return std::max(0, ssh_channel_write(channel_, bytes.data(), static_cast<std::uint32_t>(count)));
}

void SshSession::sendEnd() {
  ssh_channel_send_eof(channel_);
}

bool SshSession::ended() const {
  return ssh_channel_is_closed(channel_) != 0;
}

int SshSession::exitCode() const {
  return channel_ == nullptr ? -1 : ssh_channel_get_exit_status(channel_);
}

}  // namespace pop
