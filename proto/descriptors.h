// SPDX-License-Identifier: Apache-2.0
// Makes our messages known to protobuf's JSON and to gRPC's reflection. The generated code does not: it is
// optimised for LITE_RUNTIME, so that the agent stays small.
#pragma once

namespace pop::proto {

/// Adds the descriptors of popdist/v1 to DescriptorPool::generated_pool(), as generated code for the whole
/// runtime does before main(). From any thread; further calls do nothing.
void registerDescriptors();

}  // namespace pop::proto
