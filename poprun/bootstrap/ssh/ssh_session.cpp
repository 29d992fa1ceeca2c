// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_session.h"

#include <libssh/libssh.h>

#include <algorithm>
#include <array>
#include <cerrno>
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

// `algorithms` with those first whose keys are known: otherwise the server might present another one. libssh
// knows no certificates of hosts.
std::string knownFirst(const std::string& algorithms, const std::vector<std::string>& known_types) {
  std::vector<std::string> wanted = split(algorithms, ',');
  std::erase_if(wanted, [](const std::string& each) { return each.find("-cert-") != std::string::npos; });
  std::stable_partition(wanted.begin(), wanted.end(), [&](const std::string& algorithm) {
    const std::string type = algorithm.starts_with("rsa-sha2-") ? "ssh-rsa" : algorithm;
    return std::find(known_types.begin(), known_types.end(), type) != known_types.end();
  });
  return join(wanted, ",");
}

// One packet's worth; more would only be buffered in libssh.
constexpr std::size_t kWriteBytes = 32 << 10;

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
  if (!options_.known_hosts_file.empty()) config_.known_hosts = {options_.known_hosts_file};
  known_hosts_ = config_.known_hosts;
  known_hosts_.insert(known_hosts_.end(), config_.system_known_hosts.begin(),
                      config_.system_known_hosts.end());
  if (const std::string file = authorityFile(host(), port(), known_hosts_); !file.empty())
    return {Code::kUnimplemented, file + " has a certificate authority for it, which libssh does not know"};
  if (!options_.identity_files.empty()) config_.identity_files = options_.identity_files;
  const auto port = static_cast<unsigned>(config_.port);
  bool ok = ssh_options_set(session, SSH_OPTIONS_HOST, host().c_str()) == SSH_OK &&
            ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &off) == SSH_OK &&
            ssh_options_set(session, SSH_OPTIONS_STRICTHOSTKEYCHECK, &on) == SSH_OK &&
            ssh_options_set(session, SSH_OPTIONS_PORT, &port) == SSH_OK &&
            ssh_options_set(session, SSH_OPTIONS_KNOWNHOSTS, known_hosts_.front().c_str()) == SSH_OK &&
            ssh_options_set(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, known_hosts_.back().c_str()) == SSH_OK;
  if (!config_.user.empty())
    ok = ok && ssh_options_set(session, SSH_OPTIONS_USER, config_.user.c_str()) == SSH_OK;
  if (!ok || !setAlgorithms()) return {Code::kUnimplemented, "preparing the SSH session: " + errorText()};
  return {};
}

// False: libssh supports none of one kind.
bool SshSession::setAlgorithms() {
  for (const auto& [keyword, value] : config_.algorithms) {
    for (const auto& [name, option] : kAlgorithmOptions) {
      if (name == keyword && ssh_options_set(session_.get(), option, value.c_str()) != SSH_OK) return false;
    }
    if (keyword != "hostkeyalgorithms") continue;
    const std::vector<std::string> known = knownKeyTypes(host(), port(), known_hosts_);
    // If libssh supports none of them, it keeps the order that was set.
    const std::string preferred = knownFirst(value, known);
    static_cast<void>(ssh_options_set(session_.get(), SSH_OPTIONS_HOSTKEYS, preferred.c_str()));
  }
  return true;
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
  if (connected.value() != SSH_OK)
    return {Code::kUnimplemented, "the SSH key exchange failed: " + errorText()};
  phase("checking the host key");
  POP_RETURN_IF_ERROR(
      checkHostKey(session, host(), port(), options_.host_keys.value_or(config_.host_keys), known_hosts_));
  phase("authenticating");
  const std::string who = (config_.user.empty() ? "" : config_.user + '@') + target_.host;
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
