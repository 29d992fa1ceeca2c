// SPDX-License-Identifier: Apache-2.0
// One device an instance, and the types that its collectives carry.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "libpopdist/data/tensor/error_edge.h"
#include "libpopdist/train/agreement/agreement.h"
#include "popdist/strategy.hpp"

namespace popdist::train {
namespace {

constexpr std::array kAllTypes{Type::kBool,     Type::kInt8,   Type::kUint8, Type::kInt16,  Type::kUint16,
                               Type::kInt32,    Type::kUint32, Type::kInt64, Type::kUint64, Type::kHalf,
                               Type::kBfloat16, Type::kFloat,  Type::kDouble};

const char* nameOf(HpuStrategy::Call call) {
  switch (call) {
    case HpuStrategy::Call::kReduce:
      return "reduce";
    case HpuStrategy::Call::kBroadcastSend:
      return "broadcastSend";
    case HpuStrategy::Call::kBroadcastReceive:
      return "broadcastReceive";
    case HpuStrategy::Call::kAllGather:
      return "allGather";
    case HpuStrategy::Call::kAllToAll:
      break;
  }
  return "allToAll";
}

std::string typesOf(HpuStrategy::Call call, const HpuStrategy::Options& options) {
  std::string types;
  for (const Type type : kAllTypes) {
    if (HpuStrategy::supports(call, type, options))
      types += (types.empty() ? "" : ", ") + std::string(nameOf(type));
  }
  return types.empty() ? "no type" : types;
}

FusionOptions inOneBucket() {
  return {.bucket_bytes = SIZE_MAX};
}

}  // namespace

bool HpuStrategy::supports(Call call, Type type, const Options& options) {
  const bool converted = type == Type::kBfloat16 && options.bfloat16_conversion;
  switch (call) {
    case Call::kReduce:
      return type == Type::kBfloat16 || type == Type::kFloat;
    case Call::kBroadcastSend:
    case Call::kBroadcastReceive:
      return type == Type::kFloat || type == Type::kInt32 || type == Type::kInt64 || converted;
    case Call::kAllGather:
      return type == Type::kFloat || type == Type::kHalf || type == Type::kInt32 || type == Type::kInt64 ||
             converted;
    case Call::kAllToAll:
      break;
  }
  return false;
}

HpuStrategy::HpuStrategy(Context& context, const Options& options)
    : HostStrategy(context, "hpu", inOneBucket(), false, Devices::kHpus), options_(options) {
  pop::Status mine;
  if (context.numLocalReplicas() > 1)
    mine = pop::invalidArgument("this instance has " + std::to_string(context.numLocalReplicas()) +
                                " replicas, and an HPU program has one device: start as many instances as "
                                "replicas (poprun --num-instances)");
  requireSame(context, mine,
              {{.name = "bfloat16_conversion", .text = options.bfloat16_conversion ? "on" : "off"}},
              "HpuStrategy");
}

void HpuStrategy::check(Call call, Type type) const {
  if (supports(call, type, options_)) return;
  std::string text = std::string("the device does not carry ") + popdist::nameOf(type) + ", only " +
                     typesOf(call, options_) +
                     ": convert it, or take the host's collectives (Context::world)";
  if (type == Type::kBfloat16 && call != Call::kAllToAll) text += ", or set Options::bfloat16_conversion";
  throwIfError(pop::invalidArgument(text), std::string("HpuStrategy.") + nameOf(call));
}

void HpuStrategy::reduce(void* data, std::size_t count, Type type) {
  check(Call::kReduce, type);
  context().world().allReduce(data, data, count, type);
}

void HpuStrategy::broadcastSend(const void* data, std::size_t count, Type type) {
  check(Call::kBroadcastSend, type);
  if (context().instanceIndex() != 0)
    throwIfError({pop::Code::kFailedPrecondition, "instance 0 is the leader and sends; this is instance " +
                                                      std::to_string(context().instanceIndex()) +
                                                      ": call broadcastReceive"},
                 "HpuStrategy.broadcastSend");
  context().world().broadcast(const_cast<void*>(data), count, type, 0);  // the root's is only read
}

void HpuStrategy::broadcastReceive(void* data, std::size_t count, Type type) {
  check(Call::kBroadcastReceive, type);
  if (context().instanceIndex() == 0)
    throwIfError({pop::Code::kFailedPrecondition, "instance 0 is the leader: call broadcastSend"},
                 "HpuStrategy.broadcastReceive");
  context().world().broadcast(data, count, type, 0);
}

void HpuStrategy::allGather(const void* in, void* out, std::size_t count, Type type) {
  check(Call::kAllGather, type);
  context().world().allGather(in, out, count, type);
}

std::unique_ptr<GradientReduction> HpuStrategy::reductionOf(std::span<FlatTensors> gradients) {
  for (const TensorSpec& gradient : gradients.front().spec()) check(Call::kReduce, gradient.type);
  return HostStrategy::reductionOf(gradients);
}

}  // namespace popdist::train
