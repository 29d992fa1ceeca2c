// SPDX-License-Identifier: Apache-2.0
#include "tests/integration_popdist/cluster/hand_started.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "common/base/check.h"
#include "common/base/json.h"

namespace pop::testing {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{15};

// NAME=value of this process and of `variables`, without what poprun sets.
std::vector<std::string> environmentWith(const HandStarted::Variables& variables) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::strncmp(*each, "POPDIST_", 8) != 0 && std::strncmp(*each, "TF_CONFIG=", 10) != 0)
      all.emplace_back(*each);
  }
  for (const auto& [name, value] : variables) all.push_back(name + '=' + value);
  return all;
}

std::vector<std::string> childWith(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), CLUSTER_CHILD_PATH);
  return arguments;
}

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::vector<std::string> freeAddresses(int count) {
  std::vector<std::string> addresses;
  for (const int port : freePorts(count)) addresses.push_back("127.0.0.1:" + std::to_string(port));
  return addresses;
}

std::string tfConfigOf(const std::vector<std::string>& workers, int index) {
  std::string list;
  for (const std::string& worker : workers) list += (list.empty() ? "" : ",") + jsonQuoted(worker);
  return tfConfigOf(R"({"worker":[)" + list + "]}", "worker", index);
}

std::string tfConfigOf(const std::string& cluster, const std::string& type, int index) {
  return JsonObject()
      .json("cluster", cluster)
      .json("task", JsonObject().text("type", type).number("index", index).str())
      .str();
}

HandStarted::HandStarted(const std::vector<std::string>& arguments, const Variables& variables)
    : HandStarted(childWith(arguments), variables, 0) {}

HandStarted::HandStarted(std::vector<std::string> command, const Variables& variables, int) {
  std::vector<std::string> environment = environmentWith(variables);
  std::vector<char*> argument_pointers = pointersTo(command);
  std::vector<char*> environment_pointers = pointersTo(environment);
  sys::Pipe output = sys::makePipe().value();
  sys::Pipe input = sys::makePipe().value();
  pid_ = ::fork();
  POP_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(input.read_end.get(), STDIN_FILENO);
    ::dup2(output.write_end.get(), STDOUT_FILENO);
    ::dup2(output.write_end.get(), STDERR_FILENO);
    ::execvpe(argument_pointers.front(), argument_pointers.data(), environment_pointers.data());
    ::_exit(127);
  }
  output_ = std::move(output.read_end);
  input_ = std::move(input.write_end);
}

HandStarted::HandStarted(HandStarted&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::move(other.output_)),
      input_(std::move(other.input_)),
      out_(std::move(other.out_)) {}

HandStarted::~HandStarted() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void HandStarted::kill(int signal) const {
  ::kill(pid_, signal);
}

void HandStarted::write(const std::string& text) const {
  POP_CHECK(sys::writeAll(input_.get(), text).ok());
}

// False: the end of its output, or the time is up.
bool HandStarted::readMore(int timeout_ms) {
  pollfd readable{output_.get(), POLLIN, 0};
  if (::poll(&readable, 1, timeout_ms) <= 0) return false;
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
  if (got <= 0) return false;
  out_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

bool HandStarted::waitFor(const std::string& text) {
  const auto end = Clock::now() + kPatience;
  while (out_.find(text) == std::string::npos) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0 || !readMore(static_cast<int>(left.count()))) return false;
  }
  return true;
}

int HandStarted::wait() {
  const auto end = Clock::now() + kPatience;
  for (std::chrono::milliseconds left = kPatience; left.count() > 0;) {
    if (!readMore(static_cast<int>(left.count()))) break;
    left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
  }
  if (Clock::now() >= end) ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::vector<HandStarted> startAll(const std::vector<std::string>& workers,
                                  const std::vector<std::string>& arguments,
                                  const HandStarted::Variables& variables) {
  std::vector<HandStarted> all;
  for (int i = 0; i < static_cast<int>(workers.size()); ++i) {
    HandStarted::Variables own = variables;
    own["TF_CONFIG"] = tfConfigOf(workers, i);
    all.emplace_back(arguments, own);
  }
  return all;
}

}  // namespace pop::testing
