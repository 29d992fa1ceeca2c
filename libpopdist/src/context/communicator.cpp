// SPDX-License-Identifier: Apache-2.0
#include "popdist/communicator.hpp"

#include "libpopdist/src/context/context_impl.h"
#include "popdist/error.hpp"

namespace popdist {

using plan::Operation;

void Communicator::Impl::run(const char* name, Operation operation, Buffers buffers, std::size_t count,
                             Type type, int root) {
  if (sizeOf(type) == 0) refuse(name, "no such element type");
  const bool reduces = operation == Operation::kAllReduce || operation == Operation::kReduceScatter;
  if (reduces && !supports(Operator::kSum, type))
    refuse(name, std::string("there is no sum of ") + nameOf(type));
  const bool moves_data = count > 0 && operation != Operation::kBarrier;
  const bool needs_input = operation == Operation::kReduceScatter || operation == Operation::kAllToAll;
  if (moves_data && (buffers.output == nullptr || (needs_input && buffers.input == nullptr))) {
    refuse(name, "a buffer is a null pointer");
  }
  if (root < 0 || root >= size()) {
    refuse(name, "root " + std::to_string(root) + " is not a rank; there are " + std::to_string(size()));
  }

  if (count > context::mostElements(type) / static_cast<std::size_t>(size())) {
    refuse(name, std::to_string(count) + " elements for each of " + std::to_string(size()) +
                     " ranks exceed any memory");
  }
  const plan::Plan plan = plan::planCollective({.operation = operation,
                                                .rank = rank(),
                                                .ranks = size(),
                                                .count = count,
                                                .root = root,
                                                .element_bytes = sizeOf(type),
                                                .over_network = group_->overNetwork()});
  const auto operation_number = static_cast<std::uint32_t>(operation) | static_cast<std::uint32_t>(root)
                                                                            << exec::kRootShift;
  const context::Group::Part part{&plan, buffers.input, buffers.output};
  group_->run({.name = name, .operation = operation_number, .type = type, .count = count}, {&part, 1});
}

void Communicator::Impl::refuse(const char* name, const std::string& why) const {
  throw popdist_error(ErrorCode::kInvalidArgument, std::string(name) + ": " + why,
                      {.rank = rank(), .peer = -1, .operation = name});
}

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

int Communicator::rank() const {
  return impl_->rank();
}
int Communicator::size() const {
  return impl_->size();
}

void Communicator::allReduceSum(void* data, std::size_t count, Type type) {
  impl_->run("allReduceSum", Operation::kAllReduce, {data, data}, count, type);
}

void Communicator::allGather(const void* in, void* out, std::size_t count, Type type) {
  const std::size_t own_block_bytes = static_cast<std::size_t>(rank()) * count * sizeOf(type);
  const void* own_block = out == nullptr ? nullptr : static_cast<std::byte*>(out) + own_block_bytes;
  impl_->run("allGather", Operation::kAllGather, {in == nullptr ? own_block : in, out}, count, type);
}

void Communicator::reduceScatter(const void* in, void* out, std::size_t count, Type type) {
  impl_->run("reduceScatter", Operation::kReduceScatter, {in, out}, count, type);
}

void Communicator::broadcast(void* data, std::size_t count, Type type, int root) {
  impl_->run("broadcast", Operation::kBroadcast, {data, data}, count, type, root);
}

void Communicator::allToAll(const void* in, void* out, std::size_t count, Type type) {
  impl_->run("allToAll", Operation::kAllToAll, {in, out}, count, type);
}

void Communicator::synchronize() {
  const std::uint8_t token = 0;
  std::uint8_t ignored = 0;
  impl_->run("synchronize", Operation::kBarrier, {&token, &ignored}, 1, Type::kUint8);
}

}  // namespace popdist
