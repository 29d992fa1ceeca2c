// SPDX-License-Identifier: Apache-2.0
// Lets an agent that was started in advance run the code of a job's start once, while it waits for its job.
#pragma once

namespace pop::agent {

/// Runs the first steps of every job, here and in the keeper at `keeper_link`: examines the host, and
/// processes a job's slice up to an instance's environment. The results are dropped. The point is that code
/// and memory are loaded: after a fork and an exec each page costs a fault, which would delay the job.
void warmUp(int keeper_link);

}  // namespace pop::agent
