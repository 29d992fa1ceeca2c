// SPDX-License-Identifier: Apache-2.0
// PopDist's life cycle and communicators, as free functions on Context::fromEnvironment().
// From: PopDist, header popdist/backend.hpp.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "popdist/cxx20.hpp"

namespace popdist {

/// Chooses what communicators run on: "native" (shared memory of the host and own connections), an installed
/// backend ("grpc", "mpi"), or the path of a plugin (backend_plugin.hpp); a name with a slash is a path. Call
/// it before initializeBackend and before the first use of Context, with the same argument on all instances.
/// It overrides the variable POPDIST_BACKEND. Throws kNotFound, which lists the backends that there are, and
/// kFailedPrecondition if the backend cannot be loaded, is for another version of the library, or the call
/// comes too late.
void registerBackend(const std::string& name_or_path);

/// Undoes registerBackend: POPDIST_BACKEND decides again, and without it the backend is native. Throws as
/// registerBackend does.
void registerDefaultBackend();

/// Connects this instance to the others. Every instance calls it, in the same place among the calls that all
/// instances make (Context::fence, Context::createCommunicator, …). Only the first call does anything; other
/// functions here and in collectives.hpp make that call if need be. Throws as Context::fromEnvironment and
/// createCommunicator.
void initializeBackend();

/// The same as initializeBackend, under the name that it has in PopDist's Python module.
void init();

/// Waits for all instances, then destroys the registered communicators. Every instance calls it. It does
/// nothing before initializeBackend, or when called again. Optional: a process may simply end. Throws as
/// Communicator::barrier.
void finalizeBackend();

/// True from when initializeBackend has returned until finalizeBackend has. Never throws.
bool isBackendInitialized();

/// Returns when every member of the default communicator has called it. Members are all instances, unless
/// registerCommunicator has changed that. It calls initializeBackend, and throws as that, as
/// Communicator::barrier, and kFailedPrecondition if this instance is not a member.
void synchronize();

/// The id of the default communicator: that of all instances, until registerCommunicator gives it others.
constexpr const char* defaultCommunicatorId() {
  return "popdist_default";
}

/// Makes the instances `participants` the communicator `communicator_id` for popdist::collectives. An id that
/// exists is replaced; no call on it may be under way, nor, if it is the default, any call with a tag.
/// Callers: every instance, also those outside of `participants`, with the same arguments. It calls
/// initializeBackend, and throws as that and as Context::createCommunicator; the old registration then stays.
void registerCommunicator(const std::set<std::uint32_t>& participants,
                          const std::string& communicator_id = defaultCommunicatorId());

}  // namespace popdist
