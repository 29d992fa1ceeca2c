// SPDX-License-Identifier: Apache-2.0
// The insides of Context and Communicator, for the rest of the library and for tests that make contexts of
// threads.
#pragma once

#include <memory>

#include "common/contract/env_contract.h"
#include "libpopdist/src/context/group.h"
#include "libpopdist/src/context/shared_heap.h"
#include "libpopdist/src/plan/select.h"
#include "popdist/context.hpp"

namespace popdist {

class Communicator::Impl {
 public:
  explicit Impl(std::unique_ptr<context::Group> group) : group_(std::move(group)) {}

  int rank() const { return group_->localRanks().front(); }
  int size() const { return group_->size(); }

  /// Checks and runs one collective. Throws popdist_error.
  void run(context::CollectiveCall call, const CallOptions& options);
  /// What a caller can be told at once. Throws popdist_error kInvalidArgument.
  void check(const context::CollectiveCall& call) const;
  context::Group& group() { return *group_; }
  [[noreturn]] void refuse(const context::CollectiveCall& call, const std::string& why) const;

 private:
  bool isPlain(const context::CollectiveCall& call) const;
  void checkBuffers(const context::CollectiveCall& call) const;
  void checkRaggedBuffers(const context::CollectiveCall& call) const;
  void checkPartners(const context::CollectiveCall& call) const;
  void placeInput(context::CollectiveCall& call) const;
  void checkCounts(const context::CollectiveCall& call, std::span<const std::size_t> counts) const;
  std::chrono::milliseconds checkedTimeout(const context::CollectiveCall& call,
                                           std::chrono::milliseconds timeout) const;

  std::unique_ptr<context::Group> group_;
};

class Context::Impl {
 public:
  /// Collective over all instances: sets up the communicator of all of them. Throws popdist_error.
  Impl(const pop::contract::InstanceEnv& instance_env, std::unique_ptr<context::Link> link,
       const context::TransportSettings& transport, const context::BackendChoice& backend = {});

  /// Throws popdist_error kFailedPrecondition in a forked child, whose memory has a context of its parent's.
  void refuseFork(const char* operation) const;

  const pop::contract::InstanceEnv env;
  context::ContextState state;
  context::SharedHeap heap;
  std::unique_ptr<Communicator> world;

 private:
  const unsigned fork_ = context::forksOfThisProcess();
};

}  // namespace popdist
