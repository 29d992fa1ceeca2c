// SPDX-License-Identifier: Apache-2.0
// The jobs and hosts of a daemon as its changes tell. Values only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "popctl/command.h"

namespace pop::popctl {

class Overview {
 public:
  void apply(const v1::Change& change);

  /// False until all there is has come, at first and when the server begins anew.
  bool isWhole() const { return whole_; }

  /// The newest first.
  std::vector<v1::JobInfo> jobs(const JobFilter& filter) const;
  std::vector<v1::HostInfo> hosts() const;

 private:
  bool whole_ = false;
  std::map<std::int64_t, v1::JobInfo> jobs_;
  std::map<std::string, v1::HostInfo> hosts_;
};

bool matches(const v1::JobInfo& job, const JobFilter& filter);

/// The jobs that `top` shows: those that run, then those that wait, then the last that have ended.
std::vector<v1::JobInfo> forTop(std::vector<v1::JobInfo> jobs);

/// "2 jobs running, 1 waiting; 3 of 4 hosts up"
std::string countsText(const std::vector<v1::JobInfo>& jobs, const std::vector<v1::HostInfo>& hosts);

}  // namespace pop::popctl
