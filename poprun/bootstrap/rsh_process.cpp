// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/rsh_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "common/sys/unix_socket.h"
#include "poprun/bootstrap/ssh_words.h"

namespace pop {
namespace {

constexpr std::chrono::milliseconds kGrace{500};
constexpr std::chrono::milliseconds kAfterSigkill{500};
constexpr int kMostReads = 16;

// Gives ssh the same settings as libssh, and forbids questions.
void addSshWords(const SshOptions& options, std::vector<std::string>& words) {
  addSettings(words, withoutQuestions(words.front(), connectTimeout(options)));
  if (!options.config_file.empty()) words.insert(words.end(), {"-F", options.config_file});
  for (const std::string& file : options.identity_files) words.insert(words.end(), {"-i", file});
  if (!options.known_hosts_file.empty()) {
    words.insert(words.end(), {"-o", "UserKnownHostsFile=" + options.known_hosts_file});
  }
  if (options.host_keys) {
    const char* value = *options.host_keys == HostKeyPolicy::kStrict      ? "yes"
                        : *options.host_keys == HostKeyPolicy::kAcceptNew ? "accept-new"
                                                                          : "no";
    words.insert(words.end(), {"-o", std::string("StrictHostKeyChecking=") + value});
  }
}

}  // namespace

std::vector<std::string> rshCommand(const SshTarget& target, const SshOptions& options,
                                    const std::string& command) {
  std::vector<std::string> words = options.rsh.empty() ? std::vector<std::string>{kSshProgram} : options.rsh;
  if (isSsh(words.front())) addSshWords(options, words);
  const int port = target.port != 0 ? target.port : options.port;
  if (port != 0) words.insert(words.end(), {"-p", std::to_string(port)});
  const std::string& user = target.user.empty() ? options.user : target.user;
  words.push_back((user.empty() ? "" : user + '@') + target.host);
  words.push_back(command);
  return words;
}

Result<RshProcess::Started> RshProcess::start(const std::vector<std::string>& command, CommandEvents events) {
  POP_ASSIGN_OR_RETURN(auto stream, sys::socketPair());
  POP_ASSIGN_OR_RETURN(sys::Pipe errors, sys::makePipe());
  const int far_end = stream.second.get();
  // In a process group of its own: Ctrl-C goes to poprun, which then ends the program in order.
  Result<os::HelperProgram> program =
      os::HelperProgram::start(command, {far_end, far_end, errors.write_end.get()}, os::Leads::kGroup);
  if (!program.ok()) return Status(program.code(), program.status().message() + " (--rsh)");
  auto process =
      std::make_unique<RshProcess>(std::move(*program), std::move(errors.read_end), std::move(events));
  POP_RETURN_IF_ERROR(sys::setNonBlocking(process->errors_.get()));
  POP_RETURN_IF_ERROR(sys::setNonBlocking(stream.first.get()));
  return Started{std::move(process), std::move(stream.first)};
}

RshProcess::RshProcess(os::HelperProgram program, sys::Fd errors, CommandEvents events)
    : program_(std::move(program)),
      may_run_(program_.end().valid()),
      errors_(std::move(errors)),
      events_(std::move(events)),
      lines_(events_.said) {}

RshProcess::~RshProcess() {
  lines_.end();
  events_.ended(reap());
}

// Ends the program and its process group with ever stronger signals. Returns its exit code, or -1 if a signal
// ended it.
int RshProcess::reap() {
  const bool may_be_ending = !may_run_ && !errors_.valid();
  if (!program_.endsWithin(may_be_ending ? kGrace : std::chrono::milliseconds(0))) program_.signal(SIGTERM);
  program_.endsWithin(kGrace);
  program_.signal(SIGKILL);
  const std::optional<int> status = program_.wait(kAfterSigkill);
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

void RshProcess::prepare(std::vector<pollfd>& fds) {
  fds.push_back({errors_.get(), POLLIN, 0});
  fds.push_back({may_run_ ? program_.end().get() : -1, POLLIN, 0});
}

// Finished when the program has ended and its stderr is closed: its children may still write.
bool RshProcess::step(const pollfd* fds) {
  if (fds[1].revents != 0) may_run_ = false;
  readErrors();
  return errors_.valid() || may_run_;
}

// Reads at most one pipe's capacity at a time, so that other hosts are served too.
void RshProcess::readErrors() {
  std::array<char, 4096> buffer;
  for (int helping = 0; helping < kMostReads && errors_.valid(); ++helping) {
    const ssize_t got = ::read(errors_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) errors_.reset();
    lines_.take({buffer.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace pop
