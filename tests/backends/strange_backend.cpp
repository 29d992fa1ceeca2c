// SPDX-License-Identifier: Apache-2.0
// A backend for a version of the library that there is not.
#include "popdist/backend_plugin.hpp"

extern "C" __attribute__((visibility("default"))) const PopdistBackend* popdistBackend(std::uint32_t) {
  static const PopdistBackend backend{
      kPopdistBackendVersion + 98, "strange", nullptr, nullptr, nullptr, nullptr};
  return &backend;
}
