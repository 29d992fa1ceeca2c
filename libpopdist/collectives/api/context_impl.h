// SPDX-License-Identifier: Apache-2.0
// The implementation of Context and Communicator, for the rest of the library and for tests whose instances
// are threads.
#pragma once

#include <functional>
#include <list>
#include <memory>

#include "common/contract/env_contract.h"
#include "libpopdist/collectives/context/reporter.h"
#include "libpopdist/collectives/context/shared_heap.h"
#include "libpopdist/collectives/group/group.h"
#include "popdist/context.hpp"

namespace popdist {

class Communicator::Impl {
 public:
  explicit Impl(std::unique_ptr<group::Group> group) : group_(std::move(group)) {}

  int rank() const { return group_->rank(); }
  int size() const { return group_->size(); }

  /// Checks and runs one collective. Throws popdist_error.
  void run(group::CollectiveCall call, const CallOptions& options);
  /// Checks the arguments. Throws popdist_error kInvalidArgument.
  void check(const group::CollectiveCall& call) const;
  [[noreturn]] void refuse(const group::CollectiveCall& call, const std::string& why) const;
  /// Between calls: all other members get `why`, of a failure on `instance`, in their next call, or in the
  /// one that they wait in.
  void abort(const pop::Status& why, int instance);
  group::Group& group() { return *group_; }

 private:
  bool isPlain(const group::CollectiveCall& call) const;
  void placeInput(group::CollectiveCall& call) const;
  std::chrono::milliseconds checkedTimeout(const group::CollectiveCall& call,
                                           std::chrono::milliseconds timeout) const;

  std::unique_ptr<group::Group> group_;
};

class Context::Impl {
 public:
  /// Collective over all instances: sets up the communicator of all of them. Throws popdist_error.
  Impl(const pop::contract::InstanceEnv& instance_env, std::unique_ptr<context::Link> link,
       const context::TransportSettings& transport, const context::BackendChoice& backend = {});

  /// Throws popdist_error kFailedPrecondition in a forked child: the context belongs to its parent.
  void refuseFork(const char* operation) const;

  /// The communicator of all instances for what the library does by itself: the program's own calls are on
  /// others. Made, anew after a failure, by prepareInternal(), which is collective and throws as
  /// Context::createCommunicator.
  Communicator& internal() { return *internal_; }
  void prepareInternal();

  /// Other instances that wait in a call that the library makes for itself get `why`, of a failure on
  /// `instance`, at once; no such call is possible any more before prepareInternal(). Local; throws nothing
  /// but std::bad_alloc.
  using Abort = std::function<void(const pop::Status& why, int instance)>;
  void abortInternal(const pop::Status& why, int instance);
  std::list<Abort> aborts;  ///< one for each further wait of the library, beside internal()

  const pop::contract::InstanceEnv env;
  context::ContextState state;
  context::SharedHeap heap;
  context::Reporter reporter;
  std::unique_ptr<Communicator> world;

 private:
  std::unique_ptr<Communicator> makeForAll();

  std::unique_ptr<Communicator> internal_;
  const unsigned fork_ = pop::sys::forksOfThisProcess();
};

}  // namespace popdist
