// SPDX-License-Identifier: Apache-2.0
// What an agent that is started ahead does while it waits: everything once, for nobody.
#pragma once

namespace pop::agent {

/// Does what each job begins with, and lets the keeper at `keeper_link` do its part: looks at the host, and
/// takes a job to pieces up to the environment of an instance. Nothing comes of it but that the code and the
/// memory are there: after a fork and an exec each page costs a fault, which a job would wait for.
void warmUp(int keeper_link);

}  // namespace pop::agent
