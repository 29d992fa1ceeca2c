// SPDX-License-Identifier: Apache-2.0
// The resources that a user, or an allocation, may have at once. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "popdistd/queue/shape.h"

namespace pop::queue {

/// Missing: as much as there is.
struct Limits {
  std::optional<int> queued_jobs;
  std::optional<int> running_jobs;
  std::optional<int> instances;
  std::optional<int> ipus;

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// A user, or an allocation.
struct Account {
  std::string name;  ///< "user alice", for messages
  Limits limits;
  int jobs = 0;  ///< that run, as the next two
  int instances = 0;
  int ipus = 0;
  double claim = 1;  ///< of 0 to 1: how little it has had of what it should have (fair_share.h); 1: all

  void add(const Shape& shape, int sign = 1) {
    jobs += sign;
    instances += sign * shape.instances;
    ipus += sign * shape.ipus;
  }
};

/// Why the account may not have a job of this shape now: "user alice has 4 of 4 jobs running". Empty: it may.
std::string whyNot(const Account& account, const Shape& shape);
/// True if the account may have a job of this shape now.
bool allows(const Account& account, const Shape& shape);

/// Why the account may never have it, whatever ends.
std::string whyNever(const Account& account, const Shape& shape);

}  // namespace pop::queue
