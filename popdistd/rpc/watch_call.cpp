// SPDX-License-Identifier: Apache-2.0
#include "popdistd/rpc/watch_call.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <optional>
#include <string>
#include <utility>

namespace pop::popdistd {
namespace {

Result<std::string> serialised(const v1::Change& change) {
  return change.SerializeAsString();
}

void letGo(void* bytes) {
  delete static_cast<ShownChange::Bytes*>(bytes);
}

// Each has its own slice of the same bytes, which keeps them until gRPC has written it.
class ChangeBytes final : public Source<grpc::ByteBuffer> {
 public:
  explicit ChangeBytes(std::unique_ptr<Source<ShownChange>> changes) : changes_(std::move(changes)) {}

  std::optional<grpc::ByteBuffer> next() override {
    const std::optional<ShownChange> change = changes_->next();
    if (!change) return std::nullopt;
    const ShownChange::Bytes bytes = change->bytes(ChangeWire::kProtobuf, serialised).value();
    const grpc::Slice slice(const_cast<char*>(bytes->data()), bytes->size(), letGo,
                            new ShownChange::Bytes(bytes));
    return grpc::ByteBuffer(&slice, 1);
  }
  std::optional<Status> ended() const override { return changes_->ended(); }

 private:
  const std::unique_ptr<Source<ShownChange>> changes_;
};

}  // namespace

// An error without words is what gRPC gives for a message that it cannot read: words are found for it where
// those of all calls are (rpc_meter.cpp).
WatchCall::Open openWatch(Api& api) {
  return [&api](const Caller& caller, const grpc::ByteBuffer& asked, std::function<void()> ready,
                const WatchCall::Made& made) {
    grpc::ByteBuffer bytes(asked);
    v1::WatchRequest request;
    if (!grpc::SerializationTraits<v1::WatchRequest>::Deserialize(&bytes, &request).ok())
      return made(Status(Code::kUnimplemented, ""));
    Result<std::unique_ptr<Source<ShownChange>>> changes = api.watch(caller, request, std::move(ready));
    if (!changes.ok()) return made(changes.status());
    made(std::unique_ptr<Source<grpc::ByteBuffer>>(std::make_unique<ChangeBytes>(std::move(*changes))));
  };
}

}  // namespace pop::popdistd
