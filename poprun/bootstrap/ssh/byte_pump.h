// SPDX-License-Identifier: Apache-2.0
// One thread that moves the bytes of all hosts between their SSH sessions or programs and the sockets of the
// streams.
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

/// An object with descriptors, served when they are ready. Called on the pump's thread only.
class Pumped {
 public:
  virtual ~Pumped() = default;

  /// Appends the descriptors to wait for: always the same number of entries; a descriptor of -1 is ignored.
  virtual void prepare(std::vector<pollfd>& fds) = 0;
  /// Moves as many bytes as possible; `fds` are the entries from prepare(). False: it has finished, and is
  /// destroyed.
  virtual bool step(const pollfd* fds) = 0;
};

class BytePump {
 public:
  BytePump();
  /// Destroys all its objects, and ends the thread.
  ~BytePump();
  BytePump(const BytePump&) = delete;
  BytePump& operator=(const BytePump&) = delete;

  /// Safe to call from any thread.
  void add(std::unique_ptr<Pumped> pumped);

 private:
  using Id = std::uint32_t;
  struct Entry {
    std::unique_ptr<Pumped> pumped;
    std::vector<pollfd> fds;  ///< the descriptors to wait for, from prepare()
  };

  void run();
  void takeAdded();
  void step(Id id, Entry& entry);
  bool watch(Id id, Entry& entry) const;
  bool change(Id id, std::size_t slot, const pollfd& before, const pollfd& after) const;

  sys::Fd wake_;
  sys::Fd epoll_;  ///< not poll, whose cost for each event grows with the number of hosts
  std::mutex mutex_;
  std::vector<std::unique_ptr<Pumped>> added_;  ///< under the mutex
  std::atomic<bool> stopping_ = false;
  std::map<Id, Entry> pumped_;  ///< the thread's own
  Id last_id_ = 0;
  std::thread thread_;
};

}  // namespace pop
