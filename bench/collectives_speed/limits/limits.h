// SPDX-License-Identifier: Apache-2.0
// What the machine itself can do: the raw measurements from which the yardsticks of collectives are computed.
// Each function takes `batches` measurements, of all usable cores where it does not say otherwise.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/collectives_speed/series.h"

namespace pop::bench::collectives {

/// GB/s that all cores together copy, `bytes` each, again and again; one series for each way to copy.
std::vector<Series> copyRates(std::size_t bytes, int batches);

/// Where a connection goes: namespaces of the network (/proc/PID/ns/net; empty: our own), and an address in
/// the one that it goes to.
struct TcpPath {
  std::string from_network;
  std::string to_network;
  std::string to_address = "127.0.0.1";
};

/// Of one connection between two cores: "stream …" in GB/s, "duplex …", the rate of each direction when both
/// are used, and "swap …", the microseconds in which both ends have sent `bytes` and received as many. One
/// series of each for each size of sends, way of waiting, and sockets (the system's, like libpopdist's).
std::vector<Series> tcpFigures(std::size_t bytes, int batches, const TcpPath& path = {});

/// Microseconds until one thread sees what another has stored: "flag" between two cores that spin, "yield" on
/// one core, by sched_yield.
std::vector<Series> handoverTimes(int batches);

/// "flag" once: microseconds, of 20,000 round trips. Of two usable cores or more.
double flagHandoverUs();

/// Usable cores of this process.
std::size_t coreCount();

/// Runs body(core) at the same time on the first `threads` cores, each bound to its own; more threads than
/// cores share the first.
void onCores(std::size_t threads, bool all_on_first, const std::function<void(std::size_t thread)>& body);

}  // namespace pop::bench::collectives
