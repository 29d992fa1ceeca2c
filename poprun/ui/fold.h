// SPDX-License-Identifier: Apache-2.0
// --fold-output: prints a line that several instances write once, with the list of these instances. A line is
// held until every running instance has written it, but only for a short time. The lines of one instance keep
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
  static constexpr std::size_t kMostHeldBytes = 1 << 20;  ///< bytes of different lines
  static constexpr std::size_t kMostHeldLines = 64 << 10;

  /// One line, newline included, and the instances that wrote it, in order.
  using Emit = std::function<void(const std::vector<int>& instances, std::string_view line)>;

  /// `num_instances`: the number of instances that can write. `emitted`: called after the last of a group of
  /// emitted lines.
  Fold(Loop& loop, int num_instances, Emit emit, std::function<void()> emitted);
  ~Fold();
  Fold(const Fold&) = delete;
  Fold& operator=(const Fold&) = delete;

  /// `text` consists of lines; an unfinished one at its end counts as a line.
  void write(int instance, std::string_view text);

  /// The instance writes nothing more: no line waits for it. If it does write, its lines are handled like
  /// others.
  void close(int instance);

  /// Emits all held lines; all instances run again.
  void reopen();

  /// Emits all held lines.
  void flush();

 private:
  // A held line that some instances have written, stored once.
  struct Text {
    std::string line;
    std::map<int, std::size_t> holders;  ///< instance → how often it has written the line
    std::size_t open_holders = 0;
    std::vector<int> next_of;  ///< the holders for which this line comes next, unordered
  };
  // The lines that one instance has written, in order.
  struct Queue {
    std::deque<Text*> held;
    std::uint64_t emitted = 0;  ///< lines that have left `held`
    bool open = true;
  };
  // When a line must be emitted; it is held as long as its number is not below its queue's `emitted`.
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
  std::vector<std::size_t> texts_with_;  ///< by the number of open holders, the number of such texts
  std::deque<Due> due_;
  std::size_t held_bytes_ = 0;
  std::size_t held_lines_ = 0;
  std::optional<TimerId> timer_;
};

/// "0-2,5", of ascending numbers.
std::string rangesOf(const std::vector<int>& numbers);

}  // namespace pop
