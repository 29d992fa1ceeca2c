// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/fold.h"

#include <algorithm>
#include <set>
#include <utility>

namespace pop {

Fold::Fold(Loop& loop, int num_instances, Emit emit, std::function<void()> emitted)
    : loop_(loop),
      num_open_(static_cast<std::size_t>(num_instances)),
      emit_(std::move(emit)),
      emitted_(std::move(emitted)),
      queues_(num_open_),
      texts_with_(num_open_ + 1) {}

Fold::~Fold() {
  if (timer_) loop_.cancel(*timer_);
}

void Fold::write(int instance, std::string_view text) {
  while (!text.empty()) {
    const std::size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
    if (text[line - 1] == '\n') {
      say(instance, text.substr(0, line));
    } else {
      say(instance, std::string(text) + '\n');
    }
    text.remove_prefix(line);
  }
  emitted_();
  arm();
}

void Fold::say(int instance, std::string_view line) {
  Text& text = textOf(line);
  Queue& queue = queueOf(instance);
  if (text.holders[instance]++ == 0 && queue.open) setOpenHolders(text, text.open_holders + 1);
  due_.push_back({loop_.now() + kLongestHold, instance, queue.emitted + queue.held.size()});
  if (queue.held.empty()) text.next_of.push_back(instance);
  queue.held.push_back(&text);
  ++held_lines_;
  if (saidByAll(text)) emitFromAll(text);
  while (held_bytes_ > kMostHeldBytes || held_lines_ > kMostHeldLines) emitOldest();
}

Fold::Text& Fold::textOf(std::string_view line) {
  if (const auto found = texts_.find(line); found != texts_.end()) return *found->second;
  auto created = std::make_unique<Text>(Text{.line = std::string(line), .holders = {}, .next_of = {}});
  Text& text = *created;
  texts_[text.line] = std::move(created);
  held_bytes_ += line.size();
  ++texts_with_[0];
  return text;
}

void Fold::setOpenHolders(Text& text, std::size_t number) {
  --texts_with_[text.open_holders];
  text.open_holders = number;
  ++texts_with_[number];
}

// Emits the line once, for all instances that have written it, after their earlier lines.
void Fold::emitFromAll(Text& text) {
  for (const auto& [instance, times] : text.holders) {
    const std::deque<Text*>& held = queueOf(instance).held;
    while (held.front() != &text) emitNext(*held.front());
  }
  emitNext(text);
}

// Emits the line for all instances for which it comes next.
void Fold::emitNext(Text& text) {
  std::vector<int> instances = std::exchange(text.next_of, {});
  std::sort(instances.begin(), instances.end());
  emit_(instances, text.line);
  for (const int instance : instances) {
    Queue& queue = queueOf(instance);
    queue.held.pop_front();
    ++queue.emitted;
    if (!queue.held.empty()) queue.held.front()->next_of.push_back(instance);
    const auto holder = text.holders.find(instance);
    if (--holder->second > 0) continue;
    text.holders.erase(holder);
    if (queue.open) setOpenHolders(text, text.open_holders - 1);
  }
  held_lines_ -= instances.size();
  while (!due_.empty() && !isHeld(due_.front())) due_.pop_front();
  if (!text.holders.empty()) return;
  held_bytes_ -= text.line.size();
  --texts_with_[0];
  texts_.erase(texts_.find(text.line));
}

// The line comes next for its instance, because all earlier lines are gone.
void Fold::emitOldest() {
  emitFromAll(*queueOf(due_.front().instance).held.front());
}

void Fold::close(int instance) {
  Queue& queue = queueOf(instance);
  if (!std::exchange(queue.open, false)) return;
  --num_open_;
  for (Text* text : std::set<Text*>(queue.held.begin(), queue.held.end())) {
    setOpenHolders(*text, text->open_holders - 1);
  }
  if (texts_with_[num_open_] > 0) emitSaidByAll();
  emitted_();
}

void Fold::emitSaidByAll() {
  const std::vector<Due> held(due_.begin(), due_.end());  // emitted lines leave due_
  for (const Due& due : held) {
    if (!isHeld(due)) continue;
    const Queue& queue = queueOf(due.instance);
    Text& text = *queue.held[due.number - queue.emitted];
    if (saidByAll(text)) emitFromAll(text);
    if (texts_with_[num_open_] == 0) return;
  }
}

void Fold::reopen() {
  flush();
  for (Queue& queue : queues_) queue.open = true;
  num_open_ = queues_.size();
}

void Fold::flush() {
  while (!due_.empty()) emitOldest();
  emitted_();
}

void Fold::emitDue() {
  while (!due_.empty() && due_.front().at <= loop_.now()) emitOldest();
  emitted_();
  arm();
}

void Fold::arm() {
  if (timer_ || due_.empty()) return;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due_.front().at - loop_.now());
  timer_ = loop_.postAfter(std::max(left, std::chrono::milliseconds(0)), [this] {
    timer_.reset();
    emitDue();
  });
}

std::string rangesOf(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[first]);
    if (last > first) text += '-' + std::to_string(numbers[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace pop
