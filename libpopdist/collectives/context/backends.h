// SPDX-License-Identifier: Apache-2.0
// Finds and loads backends by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::context {

/// The backend without a plugin: shared memory and TCP connections.
inline constexpr const char* kNativeBackend = "native";

/// A backend's name, and the plugin that was loaded for it: none for the native one.
struct BackendChoice {
  std::string name = kNativeBackend;
  const PopdistBackend* plugin = nullptr;
};

/// Loads the backend `name`: "native", a name for which one of `directories` has a
/// libpopdist_backend_<name>.so, or a path (anything with a slash). Loading it again gives the same plugin.
/// kNotFound lists the available ones.
pop::Result<BackendChoice> loadBackend(const std::string& name, const std::vector<std::string>& directories);

/// The directories in which backends are searched, in this order: those of POPDIST_BACKEND_PATH (separated by
/// ':'), lib/popdist/backends beside the folder of the program that contains libpopdist, and the same under
/// the prefix that libpopdist was built for.
std::vector<std::string> backendDirectories();

/// Loads `name` and registers it for chosenBackend(); an empty name removes the registration. If loading
/// fails nothing changes. kFailedPrecondition after chosenBackend().
pop::Status registerBackendName(const std::string& name);

/// Loads the registered backend, otherwise that of POPDIST_BACKEND, otherwise the native one. For the
/// process's context.
pop::Result<BackendChoice> chosenBackend();

}  // namespace popdist::context
