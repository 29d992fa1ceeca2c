// SPDX-License-Identifier: Apache-2.0
// One run of the real poprun: started with arguments, its streams collected, its end awaited. Whatever it was
// asked to do, a poprun that ended by itself must have left nothing: no process, no zombie, no file; each run
// checks that.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/sys/fd.h"
#include "tests/testing/process_tree.h"

namespace pop::testing {

/// Longer than anything takes on a busy machine; reaching it is a failure.
inline constexpr Milliseconds kTimeout{20000};

struct PoprunSetup {
  std::vector<std::string> options;
  std::vector<std::string>
      child;  ///< command of the test child (test_child.h); empty: the program is in `options`
  std::map<std::string, std::string> environment;  ///< over the test's own
  std::string directory;                           ///< working directory; empty: the test's own
  bool one_pipe = false;                           ///< stderr goes where stdout goes
  bool socket_output = false;                      ///< stdout and stderr are sockets
  std::map<int, int> descriptors;                  ///< its 0, 1 or 2: a descriptor of the test's
  bool own_session = false;                        ///< the terminal at its stdin or stderr is its own
  std::vector<int> closed_fds;                     ///< some of 0, 1 and 2
  std::vector<int> ignored_signals;                ///< as nohup does
  bool blocked_signals = false;                    ///< all of them
  std::optional<int> open_fd;  ///< one more descriptor that is open, as careless parents leave them
  std::optional<rlim_t> descriptor_limit;  ///< soft limit of open descriptors
  std::optional<rlim_t> file_bytes_limit;  ///< soft and hard
  std::string program;                     ///< path of a link to poprun; empty: poprun itself
};

class PoprunProcess {
 public:
  explicit PoprunProcess(const PoprunSetup& setup);
  /// Ends what is still there.
  ~PoprunProcess();
  PoprunProcess(const PoprunProcess&) = delete;
  PoprunProcess& operator=(const PoprunProcess&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& token() const { return token_; }
  /// The directory in which poprun makes its temporary ones.
  const std::string& scratch() const { return scratch_; }

  void signal(int signal) const { ::kill(pid_, signal); }
  void signalGroup(int signal) const { ::kill(-pid_, signal); }

  /// A reader that does not read, or that goes away.
  void pauseReading() { reading_ = false; }
  void resumeReading() { reading_ = true; }
  void closeOutput();
  /// True when poprun's stdout pipe has room for nothing more.
  bool outputFull() const;

  /// Reads poprun's streams until `condition` holds; false when time or poprun is over first.
  bool waitFor(const std::function<bool()>& condition, Milliseconds limit = kTimeout);

  /// The pids of the instances (by index) that have said "ready", once there are `count` of them; else empty.
  std::vector<pid_t> waitReady(int count);

  /// poprun's exit code, or minus the signal that killed it. With reading on, also waits for the streams'
  /// ends.
  int wait(Milliseconds limit = kTimeout);
  /// Ctrl-C again and again, until it has counted twice: one that comes right behind another is the same one.
  /// As wait().
  int interruptUntilEnd();
  bool ended() const { return exit_code_.has_value(); }

  const std::string& out() const { return streams_[0].text; }
  const std::string& err() const { return streams_[1].text; }

  /// Leftovers of the job: processes, zombies left to us, files. Empty: nothing.
  std::string leftNow() const;

  /// Waits until nothing is left (adopting and reaping zombies, as init would). The time it took, or nothing.
  std::optional<Milliseconds> goneWithin(Milliseconds limit);

 private:
  struct Stream {
    sys::Fd fd;
    std::string text;
  };

  void start(const PoprunSetup& setup);
  void pump(int timeout_ms);
  bool readSome(Stream& stream);
  bool streamsOpen() const { return streams_[0].fd.valid() || streams_[1].fd.valid(); }

  std::set<pid_t> older_children_;  ///< the test's, from before
  std::string token_;
  std::string scratch_;
  pid_t pid_ = -1;
  sys::Fd pidfd_;
  Stream streams_[2];
  bool reading_ = true;
  std::optional<int> exit_code_;
};

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// From start to end.
Outcome run(const PoprunSetup& setup, Milliseconds limit = kTimeout);

/// The path of the test child, for command lines that name it themselves.
std::string testChildPath();

std::vector<std::string> linesOf(const std::string& text);

}  // namespace pop::testing
