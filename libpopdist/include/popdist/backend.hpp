// SPDX-License-Identifier: Apache-2.0
// PopDist's life cycle and communicators, as free functions on Context::fromEnvironment().
// From: PopDist, header popdist/backend.hpp.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace popdist {

/// Chooses what communicators run on: "native" (shared memory of the host, connections of our own), a backend
/// that is installed ("grpc", "mpi"), or the path of a plugin (backend_plugin.hpp), which is whatever has a
/// slash. Before initializeBackend and before the first use of Context; the same on all instances. Stronger
/// than the environment's POPDIST_BACKEND. Throws kNotFound, which says which backends there are;
/// kFailedPrecondition where it cannot be loaded, is for another version of the library, or comes too late.
void registerBackend(const std::string& name_or_path);

/// Takes registerBackend back: POPDIST_BACKEND decides, and without it the native backend. Throws as that
/// does.
void registerDefaultBackend();

/// Connects this instance to the others. Every instance calls it, in the same place among the calls that all
/// instances make (Context::fence, Context::createCommunicator, …); only the first call acts, which may be
/// that of another function here or in collectives.hpp. Errors as Context::fromEnvironment and
/// createCommunicator.
void initializeBackend();

/// The same, under the name that PopDist's Python module has for it.
void init();

/// Waits for all instances, then forgets the registered communicators. Every instance calls it; calls before
/// initializeBackend or after the first do nothing. Optional: a process may just end. Throws as
/// Communicator::barrier.
void finalizeBackend();

/// Whether initializeBackend has returned, and finalizeBackend has not. Throws nothing.
bool isBackendInitialized();

/// Returns when every member of the default communicator has called it: every instance, unless
/// registerCommunicator has made it others. Throws as initializeBackend, which it calls, and as
/// Communicator::barrier; kFailedPrecondition where this instance is not a member.
void synchronize();

/// Names the communicator of all instances. Registering it anew narrows or widens what the default means.
constexpr const char* defaultCommunicatorId() {
  return "popdist_default";
}

/// Makes the instances `participants` the communicator `communicator_id` for popdist::collectives; an id that
/// exists is replaced: no call on it may be under way, nor one with a tag where it is the default. Collective
/// over all instances, also those outside of it, with the same arguments. Throws as initializeBackend, which
/// it calls, and as Context::createCommunicator: what was registered before stays.
void registerCommunicator(const std::set<std::uint32_t>& participants,
                          const std::string& communicator_id = defaultCommunicatorId());

}  // namespace popdist
