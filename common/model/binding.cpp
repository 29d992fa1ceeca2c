// SPDX-License-Identifier: Apache-2.0
#include "common/model/binding.h"

#include <algorithm>

namespace pop::model {

TopologyDetail detailFor(const BindPolicy& policy) {
  switch (policy.mode) {
    case BindMode::kSpreadNuma:
      return TopologyDetail::kNodes;
    case BindMode::kSpreadCores:
    case BindMode::kCompact:
      return TopologyDetail::kCores;
    case BindMode::kExplicit:
    case BindMode::kDisabled:
      return TopologyDetail::kCpus;
  }
  return TopologyDetail::kCpus;
}

Result<Bindings> bind(const HostTopology& topology, const BindPolicy& /*policy*/, int num_instances) {
  const int threads = std::max(1, topology.allowed.size() / num_instances);
  return Bindings{
      .instances = std::vector<Binding>(static_cast<std::size_t>(num_instances), Binding{.threads = threads}),
      .warnings = {}};
}

}  // namespace pop::model
