// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/agent_start.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/os/helper_run.h"
#include "controller/hosts/bootstrapper.h"

namespace pop {
namespace {

constexpr std::string_view kMark = "popdist-agent: ";
constexpr std::size_t kMaxNoiseBytes = 64 << 10;
constexpr std::chrono::seconds kHashTimeout{60};

// The words below stand in single quotes, which every login shell leaves alone if there is no quote,
// backslash, exclamation mark or newline among them. VERSION, PATH and ARGUMENTS are replaced.
constexpr std::string_view kFunctions =
    "say() { echo \"popdist-agent: $*\"; }; "
    "fail() { say \"failed $*\"; exit 1; }; "
    "run() { say ready; exec \"$1\" ARGUMENTS; }; "
    "version() { \"$1\" --version </dev/null 2>/dev/null; }; "
    "same() { case \"$(version \"$1\")\" in "
    "\"popdist-agent VERSION\"|\"popdist-agent VERSION\"[[:space:]]*) true;; *) false;; esac; }; ";

// Removes copies that have not been started for three months, and parts of copies that were killed, only when
// a new copy arrives. A running agent does not need its file, unless another host removes it from a home that
// both have mounted: hence the long time. Other files, and hosts without find, are left alone.
constexpr std::string_view kTidy =
    "old() { find \"$d\" -type f -name \"$1\" -mtime \"$2\" -atime \"$2\" -exec rm -f {} + 2>/dev/null; }; "
    "tidy() { old \"popdist-agent-*\" +90; old \".popdist-agent.*\" +1; }; ";

constexpr std::string_view kNamed =
    "a=\"PATH\"; [ -x \"$a\" ] || fail \"$a is not an executable program there\"; same \"$a\" && run \"$a\"; "
    "fail \"$a is not version VERSION there, but $(version \"$a\" | head -n 1)\"";

// A user who can write to a directory on the way to a file, or owns it, can put another file there between a
// look and the start. A sticky directory lets nobody replace what is not his. Sets p to the path without
// links, and c to what is open to others; w is for groups, in which a user is often alone.
constexpr std::string_view kClosed =
    "me=$(id -u); w=\"*[2367]?\"; "
    "closed() { p=$(readlink -f \"$1\") || return 1; c=\"$p\"; k=file; while :; do "
    "set -- $(stat -c \"%u %a\" \"$c\" 2>/dev/null); case \"$1\" in 0|\"$me\") ;; *) return 1;; esac; "
    "case \"$k$2\" in above[1357][0-7][0-7][0-7]) ;; *[2367]|$w) return 1;; esac; "
    "[ \"$c\" = / ] && return 0; c=\"${c%/*}\"; c=\"${c:-/}\"; k=above; done; }; ";

// After PATH, where our own is, as on hosts that are all installed alike; neither where others could exchange
// it. A copy is summed whenever it is started, not only when it is made: a crash of the host can leave it
// empty or cut under its final name. That costs 12 ms, and makes it needless to wait for the disk when it is
// made. One that somebody else owns, from when the directory was open to others, is made anew.
constexpr std::string_view kFound =
    "right() { set -- $(sha256sum <\"$1\"); [ \"$1\" = \"$s\" ]; }; "
    "a=\"$(command -v popdist-agent)\"; if [ -z \"$a\" ]; then :; elif closed \"$a\"; then "
    "same \"$p\" && run \"$p\"; "
    "else echo \"poprun does not start $a there: other users can write to $c\" >&2; fi; "
    "closed \"OWN\" && same \"$p\" && run \"$p\"; "
    "say \"wanted $(uname -m)\"; read -r h s n || exit 1; "
    "d=\"${XDG_CACHE_HOME:-$HOME/.cache}/poprun\"; "
    "own() { w=; chmod go-w \"$d\" 2>/dev/null; closed \"$d\" && d=\"$p\" && a=\"$d/popdist-agent-$h\"; }; "
    "own && [ -x \"$a\" ] && closed \"$a\" && right \"$p\" && run \"$p\"; "
    "t=; drop() { [ -z \"$t\" ] || rm -f \"$t\"; }; trap drop 0; trap \"exit 1\" 1 2 13 15; "
    "fail() { drop; say \"failed $*\"; exit 1; }; "
    "e=\"$(mkdir -p \"$d\" 2>&1)\" || fail \"$e\"; "
    "own || fail \"a copy in $d could be exchanged: other users can write to $c (see XDG_CACHE_HOME)\"; "
    "t=\"$(mktemp \"$d/.popdist-agent.XXXXXX\" 2>&1)\" || { e=\"$t\"; t=; fail \"$e\"; }; "
    "say copy; e=\"$(head -c \"$n\" 2>&1 >\"$t\")\" || fail \"writing $t: $e\"; "
    "right \"$t\" || fail \"the copy at $t differs from the original, or sha256sum is missing there\"; "
    "e=\"$(chmod 700 \"$t\" 2>&1 && mv -f \"$t\" \"$a\" 2>&1)\" || fail \"$e\"; t=; "
    "[ -x \"$a\" ] || fail \"$a cannot be executed: is it on a file system mounted noexec?\"; tidy; run "
    "\"$a\"";

std::string replaced(std::string_view text, std::string_view word, std::string_view by) {
  std::string result(text);
  for (std::size_t at = 0; (at = result.find(word, at)) != std::string::npos; at += by.size()) {
    result.replace(at, word.size(), by);
  }
  return result;
}

Status checkWord(const std::string& word, const std::string& what) {
  constexpr std::string_view kUnsafe = "'\"\\`$!;&|<>()\r\n\t";
  if (word.find_first_of(kUnsafe) == std::string::npos) return {};
  return invalidArgument(what + ' ' + inQuotes(word) +
                         " must not contain quotes, backslashes or other shell metacharacters");
}

// Returns the next line that the command prints. Output of the login shell's start-up files is skipped.
class Answers {
 public:
  Answers(int stream, const Wait& wait) : stream_(stream), wait_(wait) {}

  Result<std::string> next() {
    for (;;) {
      POP_ASSIGN_OR_RETURN(const std::string line, nextLine());
      const std::size_t at = line.find(kMark);
      if (at != std::string::npos) return line.substr(at + kMark.size());
      noise_bytes_ += line.size() + 1;
      last_noise_ = line;
      if (noise_bytes_ > kMaxNoiseBytes)
        return unavailable("the login shell there prints too much before the agent starts");
    }
  }

  /// For the end of the stream: the last line may be the reason.
  Status endedEarly() const { return Status(Code::kUnavailable, std::string(trimmed(last_noise_))); }

 private:
  // Byte for byte in effect: what follows the line belongs to the agent.
  Result<std::string> nextLine() {
    std::string line;
    for (;;) {
      POP_RETURN_IF_ERROR(wait_.forEvents(stream_, POLLIN));
      std::array<char, 4096> buffer;
      const ssize_t got = ::recv(stream_, buffer.data(), buffer.size(), MSG_PEEK);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got <= 0) {
        if (!line.empty()) last_noise_ = line;
        return endedEarly();
      }
      const std::string_view seen(buffer.data(), static_cast<std::size_t>(got));
      const std::size_t newline = seen.find('\n');
      const std::size_t taken = newline == std::string_view::npos ? seen.size() : newline + 1;
      if (::recv(stream_, buffer.data(), taken, 0) < 0) return endedEarly();
      line += seen.substr(0, newline);
      if (newline != std::string_view::npos) return line;
      if (line.size() > kMaxNoiseBytes)
        return unavailable("the login shell there prints too much before the agent starts");
    }
  }

  int stream_;
  const Wait& wait_;
  std::size_t noise_bytes_ = 0;
  std::string last_noise_;
};

// False: the command has sent a line before all bytes were sent. The time of `wait` runs only while no bytes
// move.
Result<bool> sendTo(int stream, std::string_view bytes, Wait& wait) {
  while (!bytes.empty()) {
    POP_RETURN_IF_ERROR(wait.forEvents(stream, POLLIN | POLLOUT));
    char ignored = 0;
    if (::recv(stream, &ignored, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) return false;
    const ssize_t sent = ::send(stream, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent <= 0) continue;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
    wait.restart();
  }
  return true;
}

Status checkMachine(const std::string& theirs) {
  utsname ours{};
  ::uname(&ours);
  if (theirs == ours.machine) return {};
  return failedPrecondition("popdist-agent is not installed there, and ours is for " +
                            std::string(ours.machine) + ", not " + theirs + "; install it there");
}

}  // namespace

const Result<AgentFile>& AgentSource::get() {
  const std::scoped_lock lock(mutex_);
  if (file_) return *file_;
  const auto load = [this]() -> Result<AgentFile> {
    if (path_.empty())
      return failedPrecondition("popdist-agent is not installed there; install it, or name a copy");
    POP_ASSIGN_OR_RETURN(std::string bytes, sys::readFile(path_));
    POP_ASSIGN_OR_RETURN(const std::string line, os::outputOf({"sha256sum", "--", path_}, kHashTimeout));
    return AgentFile{.bytes = std::move(bytes), .sha256 = line.substr(0, 64)};
  };
  file_ = load();
  return *file_;
}

Result<std::string> agentCommand(const AgentProgram& agent) {
  POP_RETURN_IF_ERROR(checkWord(agent.version, "the agent's version"));
  POP_RETURN_IF_ERROR(checkWord(agent.remote_path, "the agent's path"));
  for (const std::string& word : agent.arguments)
    POP_RETURN_IF_ERROR(checkWord(word, "the agent's argument"));
  std::string script(kFunctions);
  if (agent.remote_path.empty()) {
    script.append(kTidy).append(kClosed).append(kFound);
  } else {
    script += kNamed;
  }
  script = replaced(script, "VERSION", agent.version);
  script = replaced(script, "ARGUMENTS", join(agent.arguments, " "));
  script = replaced(script, "\"PATH\"", '"' + agent.remote_path + '"');
  script =
      replaced(script, "\"OWN\"", '"' + (checkWord(agent.local_file, "").ok() ? agent.local_file : "") + '"');
  return "exec /bin/sh -c '" + script + "'";
}

Status startAgent(int stream, AgentSource& source, Wait& wait, const PhaseReport& phase) {
  Answers answers(stream, wait);
  for (;;) {
    POP_ASSIGN_OR_RETURN(const std::string answer, answers.next());
    if (answer == "ready") return {};
    if (answer.starts_with("failed ")) return failedPrecondition(answer.substr(7));
    const bool wanted = answer.starts_with("wanted ");
    if (!wanted && answer != "copy") return internalError("the command there says " + inQuotes(answer));
    if (wanted) POP_RETURN_IF_ERROR(checkMachine(answer.substr(7)));
    const Result<AgentFile>& file = source.get();
    if (!file.ok()) return file.status();
    const AgentFile& agent = file.value();
    if (!wanted) phase(kCopyingPhase);
    const std::string question =
        agent.sha256.substr(0, 16) + ' ' + agent.sha256 + ' ' + std::to_string(agent.bytes.size()) + '\n';
    // If the command answers early, its next line is the reason.
    POP_RETURN_IF_ERROR(sendTo(stream, wanted ? std::string_view(question) : agent.bytes, wait).status());
    wait.restart();
  }
}

}  // namespace pop
