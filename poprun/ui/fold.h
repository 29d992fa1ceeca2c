// SPDX-License-Identifier: Apache-2.0
// --fold-output: a line that several instances write comes out once, with all who said it. A line is held
// until every instance that is still there has said it, but not for long; the lines of one instance keep
// their order.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/loop.h"

namespace pop {

class Fold {
 public:
  static constexpr std::chrono::milliseconds kLongestHold{250};
  static constexpr std::size_t kMostHeldBytes = 1 << 20;  ///< of different lines
  static constexpr std::size_t kMostHeldLines = 64 << 10;

  /// One line, newline included, and the instances that said it, in order.
  using Emit = std::function<void(const std::vector<int>& instances, std::string_view line)>;

  /// `num_instances`: as many can say a line. `emitted`: some lines have just been emitted, and no more
  /// follow.
  Fold(Loop& loop, int num_instances, Emit emit, std::function<void()> emitted);
  ~Fold();
  Fold(const Fold&) = delete;
  Fold& operator=(const Fold&) = delete;

  /// `text` is lines; something else at its end counts as one.
  void write(int instance, std::string_view text);

  /// The instance says nothing more: nobody waits for it. What it says all the same is a line like any other.
  void close(int instance);

  /// Emits all that is held; all instances are there again.
  void reopen();

  /// Emits all that is held.
  void flush();

 private:
  // One text that some instances have said and that is held for them: kept once.
  struct Text {
    std::string line;
    std::map<int, std::size_t> holders;  ///< instance → how often it has said it
    std::size_t open_holders = 0;
    std::vector<int> next_of;  ///< the holders for which it comes next, in no order
  };
  // What one instance has said, in order.
  struct Queue {
    std::deque<Text*> held;
    std::uint64_t emitted = 0;  ///< lines that have left `held`
    bool open = true;
  };
  // When a line must come out; it is held as long as its number is not below its queue's `emitted`.
  struct Due {
    Clock::time_point at;
    int instance;
    std::uint64_t number;
  };

  void say(int instance, std::string_view line);
  Text& textOf(std::string_view line);
  void setOpenHolders(Text& text, std::size_t number);
  bool saidByAll(const Text& text) const { return text.open_holders == num_open_; }
  void emitFromAll(Text& text);
  void emitNext(Text& text);
  bool isHeld(const Due& due) const { return due.number >= queueOf(due.instance).emitted; }
  void emitOldest();
  void emitSaidByAll();
  void emitDue();
  void arm();

  Queue& queueOf(int instance) { return queues_[static_cast<std::size_t>(instance)]; }
  const Queue& queueOf(int instance) const { return queues_[static_cast<std::size_t>(instance)]; }

  Loop& loop_;
  std::size_t num_open_;
  const Emit emit_;
  const std::function<void()> emitted_;
  std::vector<Queue> queues_;
  std::unordered_map<std::string_view, std::unique_ptr<Text>> texts_;  ///< each key is its text's line
  std::vector<std::size_t> texts_with_;  ///< by the number of open holders, how many texts have so many
  std::deque<Due> due_;
  std::size_t held_bytes_ = 0;
  std::size_t held_lines_ = 0;
  std::optional<TimerId> timer_;
};

/// "0-2,5", of ascending numbers.
std::string rangesOf(const std::vector<int>& numbers);

}  // namespace pop
