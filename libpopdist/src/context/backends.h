// SPDX-License-Identifier: Apache-2.0
// Backends by name: which one communicators run on, where its shared library is, and loading it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::context {

/// The backend that needs no plugin: shared memory and connections of our own.
inline constexpr const char* kNativeBackend = "native";

/// A backend as it was asked for, and what was loaded for it: nothing for the native one.
struct BackendChoice {
  std::string name = kNativeBackend;
  const PopdistBackend* plugin = nullptr;
};

/// Loads the backend `name`: "native", a name of which there is a libpopdist_backend_<name>.so in one of
/// `directories`, or a path (whatever has a slash). Loading the same one again gives the same. kNotFound says
/// which there are.
pop::Result<BackendChoice> loadBackend(const std::string& name, const std::vector<std::string>& directories);

/// Where backends are looked for, in this order: POPDIST_BACKEND_PATH (directories with ':' between them),
/// lib/popdist/backends beside the folder of the program that libpopdist is part of, and the same under the
/// prefix that libpopdist was built for.
std::vector<std::string> backendDirectories();

/// Registers `name` for chosenBackend() and loads it; empty: as if nothing had been registered. A name that
/// cannot be loaded changes nothing. kFailedPrecondition after chosenBackend().
pop::Status registerBackendName(const std::string& name);

/// What has been registered, else POPDIST_BACKEND, else the native one; loaded. For the process's context.
pop::Result<BackendChoice> chosenBackend();

}  // namespace popdist::context
