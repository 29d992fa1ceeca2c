// SPDX-License-Identifier: Apache-2.0
// One checkpoint, as the threads of all instances write it together:
//
//   instance 0 makes step-N.partial         all agree on what is to be written
//   each writes its file and syncs it       all agree that it is written
//   instance 0 writes the manifest, names   all agree that it is complete
//
// Whatever fails anywhere, all instances come to the same outcome at the end of the line where it did.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/train/agreement/exchange.h"
#include "libpopdist/train/checkpoint/snapshot.h"
#include "libpopdist/train/checkpoint/store.h"
#include "popdist/checkpoint.hpp"
#include "popdist/communicator.hpp"

namespace popdist::train {

/// A save() for the thread.
struct Order {
  pop::Status taken;  ///< why there is no snapshot
  Position at;
  std::chrono::milliseconds start_timeout{};  ///< until the other instances have called save(), too
};

struct Outcome {
  pop::Status saved;
  bool is_broken = false;  ///< the communicator cannot be used any more
};

class Round {
 public:
  /// `store`: of instance 0; nullptr on the others.
  Round(Communicator& communicator, Store* store, const CheckpointOptions& options, const Watch& watch)
      : communicator_(communicator), store_(store), options_(options), watch_(watch) {}

  Outcome run(const Order& order, const Snapshot& snapshot);

 private:
  struct Plan {
    std::vector<std::vector<Part>> parts;  ///< by instance
    Position at;                           ///< with the values of instance 0
  };

  std::string proposal(const Order& order, const Snapshot& snapshot, const pop::Status& begun) const;
  static pop::Result<Plan> planOf(const std::vector<pop::JsonValue>& proposals);
  pop::Result<StoredFile> write(const Order& order, const Snapshot& snapshot) const;
  pop::Status commit(const Plan& plan, const std::vector<pop::JsonValue>& files) const;

  Communicator& communicator_;
  Store* store_;
  const CheckpointOptions& options_;
  const Watch& watch_;
};

}  // namespace popdist::train
