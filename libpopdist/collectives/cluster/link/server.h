// SPDX-License-Identifier: Apache-2.0
// The server in instance 0: who has come, what was put, fences, ends. One thread, which owns everything here;
// instance 0 itself is a client like the others, over a socket pair.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/sys/awake_clock.h"
#include "common/sys/fd.h"
#include "common/sys/forks.h"
#include "libpopdist/collectives/cluster/link/fences.h"
#include "libpopdist/collectives/cluster/link/peer_socket.h"
#include "libpopdist/collectives/cluster/link/roster.h"

namespace popdist::cluster {

class Server {
 public:
  /// Serves connections that come to `listener`, and that of instance 0 at `own`. `key` is what instances
  /// prove to each other that they belong together. kResourceExhausted: there is no thread or descriptor.
  static pop::Result<std::unique_ptr<Server>> start(const Roster& roster, std::string key,
                                                    pop::sys::Fd listener, pop::sys::Fd own);
  /// Instance 0 has ended, which all others hear. Takes up to a second if they do not read.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Sets how the destructor says that instance 0 has ended.
  void setClean(bool clean) { clean_ = clean; }

 private:
  using Clock = pop::sys::AwakeClock;
  using Deadline = std::optional<Clock::time_point>;

  struct Peer {
    PeerSocket socket;
    Clock::time_point come;
    int instance = -1;  ///< -1: it has not said hello
    std::string process{};
    Deadline fence{};
    bool is_over = false;  ///< closed as soon as what is left has been sent, or cannot be
  };

  Server(const Roster& roster, std::string key, pop::sys::Fd listener, pop::sys::Pipe wake);

  void loop();
  bool wait();
  void accept();
  void read(Peer& peer);
  void handle(Peer& peer, pop::contract::Frame frame);
  void greet(Peer& peer, const pop::contract::Frame& hello);
  void enterFence(Peer& peer, pop::contract::Frame frame);
  void abort(const Peer& peer, const pop::contract::Frame& frame);
  void checkDeadlines();
  void answer(const std::vector<Answer>& answers);
  void sendReleased();
  void refuse(Peer& peer, const pop::Status& why, int instance);
  void lose(Peer& peer);
  void end(int instance, bool clean, const std::string& text);
  void leave();
  Peer* peerOf(int instance);
  std::string who(const Peer& peer) const;

  const Roster roster_;
  const std::string key_;
  pop::sys::Fd listener_;
  const pop::sys::Pipe wake_;
  std::list<Peer> peers_;
  std::vector<bool> ended_;
  Fences fences_;
  std::string last_refusal_;  ///< the last caller that was not let in: one that is missing may be it
  std::atomic<bool> leaving_ = false;
  std::atomic<bool> clean_ = false;
  const unsigned fork_ = pop::sys::forksOfThisProcess();
  std::thread thread_;
};

}  // namespace popdist::cluster
