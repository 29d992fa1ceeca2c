// SPDX-License-Identifier: Apache-2.0
// Maps replicas to instances and instances to hosts and IPU-Link domains. A pure function.
#pragma once

#include <vector>

#include "common/model/job_spec.h"

namespace pop::model {

struct InstancePlacement {
  int instance = 0;
  int host = 0;            ///< index into JobSpec::hosts
  int local_instance = 0;  ///< among the instances of that host
  int first_replica = 0;   ///< the instance's replicas are [first_replica, first_replica + num_replicas)
  int num_replicas = 0;
  int ild = 0;
};

/// One entry per instance, in order. Instances of a host, and replicas of an instance, are consecutive.
/// `spec` must be free of mistakes (findMistakes).
std::vector<InstancePlacement> place(const JobSpec& spec);

}  // namespace pop::model
