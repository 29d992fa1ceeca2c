// SPDX-License-Identifier: Apache-2.0
// A change as several watchers get it: its message is made once, and so are the bytes that carry it, however
// many read them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "proto/popdist/v1/controller.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

/// The form in which a change is sent.
enum class ChangeWire : std::size_t { kProtobuf, kJson };

/// Copies are cheap, and are the same change. On the loop's thread.
class ShownChange {
 public:
  using Bytes = std::shared_ptr<const std::string>;  ///< may be let go on any thread

  ShownChange(v1::Change message)  // implicit: where a message is expected, this is one
      : shown_(std::make_shared<Shown>(Shown{std::move(message), {}})) {}

  const v1::Change& operator*() const { return shown_->message; }
  const v1::Change* operator->() const { return &shown_->message; }

  /// Its bytes on `wire`, as `encode(message)` makes them, a Result<std::string>, for the first that asks.
  template <typename Encode>
  Result<Bytes> bytes(ChangeWire wire, Encode encode) const {
    Bytes& made = shown_->bytes[static_cast<std::size_t>(wire)];
    if (made == nullptr) {
      Result<std::string> text = encode(shown_->message);
      if (!text.ok()) return text.status();
      made = std::make_shared<const std::string>(std::move(*text));
    }
    return made;
  }

 private:
  struct Shown {
    v1::Change message;
    std::array<Bytes, 2> bytes;  ///< by ChangeWire; null: not asked for yet
  };

  std::shared_ptr<Shown> shown_;
};

}  // namespace pop::popdistd
