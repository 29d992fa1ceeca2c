// SPDX-License-Identifier: Apache-2.0
// Names of popdist's classes, for headers that only mention them: it includes nothing of the rest, and costs
// a few milliseconds where popdist.hpp costs a second.
#pragma once

#include <cstddef>
#include <cstdint>

#include "popdist/cxx20.hpp"

namespace popdist {

enum class ErrorCode : std::uint8_t;
enum class Operator : std::uint8_t;
enum class Type : std::uint8_t;
struct CallOptions;
struct TensorSpec;
template <typename Byte>
class BasicTensorRefs;
using ConstTensorRefs = BasicTensorRefs<const std::byte>;
using TensorRefs = BasicTensorRefs<std::byte>;
class AsyncCommunicator;
class Buffer;
class Communicator;
class Context;
class FusedAllReduce;
class Pending;
class Pod;
class Span;
class Tensor;
class Tensors;
class popdist_error;

namespace io {
struct InfeedOptions;
struct OutfeedOptions;
class Dataset;
class Infeed;
class Outfeed;
class Source;
class TarElement;
}  // namespace io

namespace train {
struct MicroBatch;
struct Optimizer;
struct Piece;
struct Progress;
struct Stage;
struct TrainerOptions;
class BatchNorm;
class Checkpoint;
class Checkpoints;
class Parameters;
class Pipeline;
class Strategy;
class Trainer;
class Variables;
}  // namespace train

}  // namespace popdist
