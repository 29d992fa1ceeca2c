// SPDX-License-Identifier: Apache-2.0
// The machine's limits: raw measurements, from which the yardsticks of collectives are computed. Each
// function takes `batches` measurements, on all usable cores unless stated otherwise.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/collectives_speed/series.h"

namespace pop::bench::collectives {

/// Rate in GB/s at which all cores together copy, `bytes` each; one series for each method of copying.
std::vector<Series> copyRates(std::size_t bytes, int batches);

/// The ends of a connection: network namespaces (/proc/PID/ns/net; empty: this process's), and an address in
/// the target's.
struct TcpPath {
  std::string from_network;
  std::string to_network;
  std::string to_address = "127.0.0.1";
};

/// One connection between two cores:
///   "stream …"  GB/s in one direction
///   "duplex …"  GB/s in each direction when both are used
///   "swap …"    microseconds until both ends have sent `bytes` and received as many
/// One series of each for each size of sends, method of waiting, and socket setup (the system's,
/// libpopdist's).
std::vector<Series> tcpFigures(std::size_t bytes, int batches, const TcpPath& path = {});

/// Microseconds until one thread sees another's store: "flag" between two spinning cores, "yield" on one
/// core, by sched_yield.
std::vector<Series> handoverTimes(int batches);

/// One "flag" measurement in microseconds, over 20,000 round trips. Needs two usable cores.
double flagHandoverUs();

/// Usable cores of this process.
std::size_t coreCount();

/// Runs body(core) at the same time on the first `threads` cores, each bound to its own; more threads than
/// cores share the first.
void onCores(std::size_t threads, bool all_on_first, const std::function<void(std::size_t thread)>& body);

}  // namespace pop::bench::collectives
