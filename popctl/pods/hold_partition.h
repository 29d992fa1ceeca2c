// SPDX-License-Identifier: Apache-2.0
// `popctl hold partition`, which poprun calls: gets the partition of its job, holds it, prints its name on a
// line ("p16 made": it was not there), and stays until its stdin closes, however poprun ends. Then removes
// the partition, if that is asked for.
#pragma once

#include "popctl/pods/hold_options.h"
#include "popctl/rpc/pods_client.h"

namespace pop::popctl {

/// Returns popctl's exit code.
int holdPartition(const HoldOptions& options, PodsClient& client);

/// Removes what a holder that was killed has made, as that would have. Says why, if it cannot.
int removeHeldPartition(const HoldOptions& options, PodsClient& client);

}  // namespace pop::popctl
