// SPDX-License-Identifier: Apache-2.0
// Makes what was written to the store durable, together for all that happens in one turn of the loop: who
// waits for it hears of it then.
#pragma once

#include <functional>
#include <vector>

#include "common/base/loop.h"
#include "common/base/status.h"
#include "common/base/while_there.h"
#include "popdistd/api/measures.h"
#include "popdistd/common/store.h"

namespace pop::popdistd {

class Commits {
 public:
  using Done = std::function<void(const Status&)>;

  /// `failed`: a commit has failed, and those who waited have been told; what is in memory is not in the
  /// store.
  Commits(Loop& loop, Store& store, Done failed) : loop_(loop), store_(store), failed_(std::move(failed)) {}

  /// Takes the result of a write: one that has failed fails the commit.
  void wrote(Status status);

  /// The same of a write that the store may refuse: the refusal is returned, and is the caller's alone.
  Status tried(Status status);

  /// Calls `done` on the loop once all that has been written so far is durable, or with the error.
  void whenDurable(Done done);

  /// The last commit's status.
  const Status& last() const { return last_; }

  const CommitMeters& meters() const { return meters_; }

 private:
  void commitSoon();
  void commit();

  Loop& loop_;
  Store& store_;
  const Done failed_;
  Status problem_;  ///< of a write of this turn
  Status last_;
  CommitMeters meters_;
  std::vector<Done> waiting_;
  bool is_posted_ = false;
  WhileThere while_there_;
};

}  // namespace pop::popdistd
