// SPDX-License-Identifier: Apache-2.0
// One thread that moves the bytes of all hosts between what carries them and the sockets that their users
// have.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/sys/fd.h"

namespace pop {

/// Something with descriptors that is served when they are ready. On the pump's thread only.
class Pumped {
 public:
  virtual ~Pumped() = default;

  /// Appends what to wait for: always the same number of entries; a descriptor of -1 waits for nothing.
  virtual void prepare(std::vector<pollfd>& fds) = 0;
  /// Moves what can be moved; `fds` are those that prepare() gave. False: it is over, and destroyed.
  virtual bool step(const pollfd* fds) = 0;
};

class BytePump {
 public:
  BytePump();
  /// Destroys all that is in it, and ends the thread.
  ~BytePump();
  BytePump(const BytePump&) = delete;
  BytePump& operator=(const BytePump&) = delete;

  /// From any thread.
  void add(std::unique_ptr<Pumped> pumped);

 private:
  using Id = std::uint32_t;
  struct Entry {
    std::unique_ptr<Pumped> pumped;
    std::vector<pollfd> fds;  ///< what is waited for, as prepare() gave it
  };

  void run();
  void takeAdded();
  void step(Id id, Entry& entry);
  bool watch(Id id, Entry& entry) const;
  bool change(Id id, std::size_t slot, const pollfd& before, const pollfd& after) const;

  sys::Fd wake_;
  sys::Fd epoll_;  ///< not poll: with a thousand hosts, each byte of one would cost a look at all
  std::mutex mutex_;
  std::vector<std::unique_ptr<Pumped>> added_;  ///< under the mutex
  std::atomic<bool> stopping_ = false;
  std::map<Id, Entry> pumped_;  ///< the thread's own
  Id last_id_ = 0;
  std::thread thread_;
};

}  // namespace pop
