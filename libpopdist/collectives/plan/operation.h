// SPDX-License-Identifier: Apache-2.0
// The collective operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace popdist::plan {

enum class Operation : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kBarrier,
  kReduce,
  kGather,
  kScatter,
  kSendRecv,
};

/// The sum of a Pod's replicas. Communicators do not have these, but they are compared like their calls.
inline constexpr Operation kDeviceAllReduce{10};
/// The same, of which each instance gets a part.
inline constexpr Operation kDeviceReduceScatter{11};
/// GCL's collectives, in groups of replicas.
inline constexpr Operation kPodAllReduce{12};
inline constexpr Operation kPodReduceScatter{13};
inline constexpr Operation kPodAllGather{14};
inline constexpr Operation kPodAllToAll{15};
inline constexpr Operation kPodBroadcast{16};

/// As the API calls it: "allReduce".
inline const char* nameOf(Operation operation) {
  constexpr const char* kNames[] = {"allReduce",
                                    "reduceScatter",
                                    "allGather",
                                    "broadcast",
                                    "allToAll",
                                    "barrier",
                                    "reduce",
                                    "gather",
                                    "scatter",
                                    "sendRecv",
                                    "Pod::allReduceSum",
                                    "Pod::reduceScatterSum",
                                    "Pod::allReduce",
                                    "Pod::reduceScatter",
                                    "Pod::allGather",
                                    "Pod::allToAll",
                                    "Pod::broadcast"};
  const auto index = static_cast<std::size_t>(operation);
  return index < std::size(kNames) ? kNames[index] : "an unknown operation";  // a peer's word
}

/// True if the operation has an operator.
constexpr bool reduces(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduceScatter ||
         operation == Operation::kReduce || operation == kDeviceAllReduce ||
         operation == kDeviceReduceScatter || operation == kPodAllReduce || operation == kPodReduceScatter;
}

/// True if the operation has a root.
constexpr bool hasRoot(Operation operation) {
  return operation == Operation::kBroadcast || operation == Operation::kReduce ||
         operation == Operation::kGather || operation == Operation::kScatter;
}

}  // namespace popdist::plan
