// SPDX-License-Identifier: Apache-2.0
// Bounds for the words of hosts and runners, applied where they enter: one host that is broken, or in the
// wrong hands, must not harm the others, the store or the lists that users read. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/status.h"
#include "proto/popdist/v1/host.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

/// The largest number of a job or a record: up to here, numbers are exact in JSON and in the page, too.
inline constexpr std::int64_t kMostNumber = (std::int64_t{1} << 53) - 1;

/// The largest lead that hosts' numbers may have over those that this life of the daemon has found in its
/// store: jobs and starts since an old copy of the store was made.
inline constexpr std::int64_t kMostUnknownJobs = 1'000'000;
inline constexpr std::uint64_t kMostUnknownEpochs = 65'536;

/// kInvalidArgument: a number that no host has, or a name that is none.
Status checkJoins(const v1::HostJoins& joins);

/// Texts that are cut, and numbers out of range.
void bound(v1::HostReport& report);

/// Likewise; false: there was nothing to do.
bool bound(v1::JobEvent& event);

}  // namespace pop::popdistd
