// SPDX-License-Identifier: Apache-2.0
// hwloc, loaded when it is first needed: most jobs start without it (docs/adr/0012).
#pragma once

#include <hwloc.h>

#include "common/base/status.h"

// The functions that we call, without "hwloc_". Those that hwloc.h defines inline must not be called: they
// would link to the library.
#define POP_HWLOC_FUNCTIONS(F)       \
  F(topology_init)                   \
  F(topology_destroy)                \
  F(topology_set_flags)              \
  F(topology_set_cache_types_filter) \
  F(topology_set_components)         \
  F(topology_set_synthetic)          \
  F(topology_set_xml)                \
  F(topology_load)                   \
  F(topology_is_thissystem)          \
  F(topology_get_allowed_cpuset)     \
  F(topology_get_allowed_nodeset)    \
  F(get_type_depth)                  \
  F(get_nbobjs_by_depth)             \
  F(get_obj_by_depth)                \
  F(cpukinds_get_nr)                 \
  F(cpukinds_get_by_cpuset)          \
  F(bitmap_isset)                    \
  F(bitmap_next)

namespace pop::agent {

struct Hwloc {
#define POP_HWLOC_MEMBER(name) decltype(&hwloc_##name) name = nullptr;
  POP_HWLOC_FUNCTIONS(POP_HWLOC_MEMBER)
#undef POP_HWLOC_MEMBER
};

/// Loads the library once; it stays. kFailedPrecondition names the file that is missing.
Result<const Hwloc*> hwlocLibrary();

}  // namespace pop::agent
