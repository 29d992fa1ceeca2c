// SPDX-License-Identifier: Apache-2.0
// Number of a job's instances, in all and on each host.
#pragma once

#include "common/model/job_spec.h"
#include "poprun/plan/job_builder.h"
#include "poprun/plan/settings.h"

namespace pop {

/// Sets `spec.num_instances`, and the slots of `spec.hosts` where the options change them. Hosts and programs
/// must be there already. The rules of mpirun (Options::hosts_are_slots):
///   - without -np, each host that is named counts as a slot, and there are as many instances as slots;
///   - without -np, hosts that popdistd chooses (--num-hosts) get one instance each;
///   - without -np and hosts, there is one instance, or one for each core (Options::fills_cores);
///   - instances that do not divide evenly over hosts without slots go to the first ones.
void countInstances(const Options& options, const Surroundings& here, model::JobSpec& spec);

}  // namespace pop
