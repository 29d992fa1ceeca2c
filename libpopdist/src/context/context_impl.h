// SPDX-License-Identifier: Apache-2.0
// The insides of Context and Communicator, for the rest of the library and for tests that make contexts of
// threads.
#pragma once

#include <memory>

#include "common/contract/env_contract.h"
#include "libpopdist/src/context/group.h"
#include "libpopdist/src/plan/select.h"
#include "popdist/context.hpp"

namespace popdist {

class Communicator::Impl {
 public:
  explicit Impl(std::unique_ptr<context::Group> group) : group_(std::move(group)) {}

  int rank() const { return group_->localRanks().front(); }
  int size() const { return group_->size(); }

  struct Buffers {
    const void* input = nullptr;
    void* output = nullptr;
  };

  /// Plans and runs one collective.
  void run(const char* name, plan::Operation operation, Buffers buffers, std::size_t count, Type type,
           int root = 0);
  [[noreturn]] void refuse(const char* name, const std::string& why) const;

 private:
  std::unique_ptr<context::Group> group_;
};

class Context::Impl {
 public:
  /// Collective over all instances: sets up the communicator of all of them. Throws popdist_error.
  Impl(const pop::contract::InstanceEnv& instance_env, std::unique_ptr<context::Link> link,
       const context::TransportSettings& transport);

  const pop::contract::InstanceEnv env;
  context::Surroundings surroundings;
  std::unique_ptr<Communicator> world;
};

}  // namespace popdist
