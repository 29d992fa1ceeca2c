// SPDX-License-Identifier: Apache-2.0
// A backend as version 3 of the interface had it: it carried out collectives. Every version begins alike.
#include <cstdint>

namespace {

struct BackendOfVersion3 {
  std::uint32_t version = 3;
  const char* name = "old";
  void (*offer)() = nullptr;
  void (*connect)() = nullptr;
  void (*run)() = nullptr;
  void (*destroy)() = nullptr;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const BackendOfVersion3* popdistBackend(std::uint32_t) {
  static const BackendOfVersion3 backend;
  return &backend;
}
