// SPDX-License-Identifier: Apache-2.0
// A group as one of its members wants to make it, and what that member offers the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/contract/frame.h"
#include "libpopdist/collectives/context/link.h"

namespace popdist::group {

/// "instances 0-3, 7", to compare and to show. Replicas of one instance follow each other. Text that does not
/// name every rank ends with a number that tells such sets apart.
std::string setOf(const std::vector<int>& instance_of_rank);

struct Proposal {
  std::string name;                   ///< of the group
  int round = 0;                      ///< among the meetings that make one group
  std::vector<int> instance_of_rank;  ///< each instance once
  std::string settings;               ///< the same on all members
  context::Link::Values offers;       ///< by key

  /// The member that collects the offers of all.
  int leader() const;

  std::vector<std::string> toFields() const;
  static std::optional<Proposal> fromFields(const std::vector<std::string>& fields);
};

/// Offers as fields: key, value, key, value, …; and back, from field `first` on.
void appendValues(const context::Link::Values& values, std::vector<std::string>& fields);
std::optional<context::Link::Values> valuesFrom(const std::vector<std::string>& fields, std::size_t first);

}  // namespace popdist::group
