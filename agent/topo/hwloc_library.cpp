// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/hwloc_library.h"

#include <dlfcn.h>

#include <string>

namespace pop::agent {
namespace {

constexpr const char* kFile = "libhwloc.so.15";  // the binary interface of hwloc 2

Status missing() {
  return {Code::kFailedPrecondition, std::string("finding out memory nodes and cores needs hwloc 2: ") +
                                         ::dlerror() +
                                         " (install libhwloc15, or use --process-placement disabled)"};
}

Result<Hwloc> load() {
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return missing();
  Hwloc hwloc;
#define POP_HWLOC_LOAD(name)                                                             \
  hwloc.name = reinterpret_cast<decltype(hwloc.name)>(::dlsym(library, "hwloc_" #name)); \
  if (hwloc.name == nullptr) return missing();
  POP_HWLOC_FUNCTIONS(POP_HWLOC_LOAD)
#undef POP_HWLOC_LOAD
  return hwloc;
}

}  // namespace

Result<const Hwloc*> hwlocLibrary() {
  static const Result<Hwloc> library = load();
  if (!library.ok()) return library.status();
  return &library.value();
}

}  // namespace pop::agent
