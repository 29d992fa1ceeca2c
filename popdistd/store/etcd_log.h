// SPDX-License-Identifier: Apache-2.0
// The log of a store in etcd. Large entries are written in parts, which count once the entry names them.
// Whole copies of the store are written now and then, by a thread, and what is older goes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "popdistd/store/change_log.h"
#include "popdistd/store/etcd_place.h"

namespace pop::popdistd {

class EtcdLog final : public ChangeLog {
 public:
  /// `path`: the store's file. `log_bytes`, `snapshot_bytes`: what is in etcd.
  EtcdLog(EtcdPlace place, std::string path, std::int64_t log_bytes, std::int64_t snapshot_bytes)
      : place_(std::move(place)),
        path_(std::move(path)),
        log_bytes_(log_bytes),
        last_bytes_(snapshot_bytes) {}
  ~EtcdLog() override;

  Status append(std::int64_t sequence, std::string_view changes) override;
  void kept(std::int64_t sequence, std::size_t num_bytes) override;
  void diverged(const Status& why) override;

 private:
  void snapshot();

  const EtcdPlace place_;
  const std::string path_;
  std::int64_t log_bytes_;                ///< since the last snapshot was begun
  std::atomic<std::int64_t> last_bytes_;  ///< of the last snapshot
  std::atomic<bool> is_busy_ = false;     ///< the thread
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

}  // namespace pop::popdistd
