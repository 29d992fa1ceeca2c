// SPDX-License-Identifier: Apache-2.0
// An instance's link to its surroundings: values exchanged through fences, and memory shared on its host.
// agent_link.h implements it with the agent, memory_link.h for programs without poprun and for tests whose
// instances are threads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "libpopdist/collectives/messages/transport/shm/shm_group.h"

namespace popdist::context {

/// A failure of the link, and the instance that caused it, if one did.
struct LinkError {
  pop::Status status;
  int instance = -1;
  bool ok() const { return status.ok(); }
};

/// Keys with this prefix are reserved for libpopdist: Context::put refuses them.
inline constexpr std::string_view kReservedKeys = "popdist/";

/// This instance's means to reach instances on other hosts, and theirs to reach it.
struct HostNetwork {
  std::string job_key;  ///< 16 bytes that only the job's instances know; empty: no key
  std::string address;  ///< numeric, of this host
};

/// Throws popdist_error unless `error` is ok.
void throwIfFailed(const LinkError& error, const char* operation);

class Link {
 public:
  using Values = std::map<std::string, std::string>;  ///< by key

  virtual ~Link() = default;

  virtual LinkError put(const std::string& key, const std::string& value,
                        std::chrono::milliseconds timeout) = 0;
  virtual LinkError get(const std::string& key, std::chrono::milliseconds timeout,
                        std::optional<std::string>& value) = 0;
  /// All values whose keys begin with `prefix`, in one round trip.
  virtual LinkError getAll(const std::string& prefix, std::chrono::milliseconds timeout, Values& values) = 0;
  /// Called in a wait every 100 ms. Waits for nothing.
  using Meanwhile = std::function<void()>;
  /// `tag` names the purpose of the fence; all instances must be in the same call. Those that are inside are
  /// told at once of one that is not. `meanwhile` may be empty.
  virtual LinkError fence(const std::string& tag, std::chrono::milliseconds timeout,
                          const Meanwhile& meanwhile) = 0;
  virtual void abort(int exit_code, const std::string& message) = 0;
  virtual transport::SegmentView segment() const = 0;
  virtual HostNetwork network() const = 0;
  /// The number of cores that all instances of this host together may use. A single instance may be bound to
  /// fewer.
  virtual int hostCores() const = 0;
};

}  // namespace popdist::context
