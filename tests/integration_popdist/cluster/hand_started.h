// SPDX-License-Identifier: Apache-2.0
// Processes as a user starts them in several terminals, each with its TF_CONFIG.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/sys/fd.h"
#include "tests/testing/free_port.h"

namespace pop::testing {

inline constexpr int kAlreadyExistsCode = 6;
inline constexpr int kDeadlineExceededCode = 4;
inline constexpr int kFailedPreconditionCode = 9;
inline constexpr int kUnavailableCode = 14;

/// "127.0.0.1:…", as many.
std::vector<std::string> freeAddresses(int count);

/// TF_CONFIG of a worker.
std::string tfConfigOf(const std::vector<std::string>& workers, int index);
/// With a chief, if `workers` has one in front, and any task.
std::string tfConfigOf(const std::string& cluster, const std::string& type, int index);

class HandStarted {
 public:
  using Variables = std::map<std::string, std::string>;

  /// Runs the cluster child with `arguments`, and `variables` besides this process's, without POPDIST_….
  HandStarted(const std::vector<std::string>& arguments, const Variables& variables);
  /// Runs any command so.
  static HandStarted command(std::vector<std::string> command, const Variables& variables) {
    return {std::move(command), variables, 0};
  }
  ~HandStarted();
  HandStarted(HandStarted&& other) noexcept;
  HandStarted(const HandStarted&) = delete;
  HandStarted& operator=(const HandStarted&) = delete;

  pid_t pid() const { return pid_; }
  void kill(int signal) const;
  void write(const std::string& text) const;
  /// Waits until what it has written, also to stderr, contains `text`. False: it ended before, or 15 s
  /// passed.
  bool waitFor(const std::string& text);
  /// Its exit code, or 128 + its signal. After 15 s it is killed.
  int wait();
  /// Its output so far.
  const std::string& out() const { return out_; }

 private:
  HandStarted(std::vector<std::string> command, const Variables& variables, int);
  bool readMore(int timeout_ms);

  pid_t pid_ = -1;
  sys::Fd output_;
  sys::Fd input_;
  std::string out_;
};

/// One for each address, all with the same arguments.
std::vector<HandStarted> startAll(const std::vector<std::string>& workers,
                                  const std::vector<std::string>& arguments,
                                  const HandStarted::Variables& variables = {});

}  // namespace pop::testing
