// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/fold.h"

#include <algorithm>
#include <set>
#include <utility>

namespace pop {
namespace {

bool contains(const std::vector<int>& instances, int instance) {
  return std::find(instances.begin(), instances.end(), instance) != instances.end();
}

}  // namespace

Fold::Fold(Loop& loop, int num_instances, Emit emit, std::function<void()> emitted)
    : loop_(loop),
      num_open_(static_cast<std::size_t>(num_instances)),
      emit_(std::move(emit)),
      emitted_(std::move(emitted)),
      queues_(num_open_) {}

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
  if (queue.open && !contains(text.holders, instance)) ++text.open_holders;
  text.holders.push_back(instance);
  due_.push_back({loop_.now() + kLongestHold, instance, queue.emitted + queue.held.size()});
  queue.held.push_back(&text);
  ++held_lines_;
  if (saidByAll(text)) emitFromAll(text);
  while (held_bytes_ > kMostHeldBytes || held_lines_ > kMostHeldLines) emitOldest();
}

Fold::Text& Fold::textOf(std::string_view line) {
  if (const auto found = texts_.find(line); found != texts_.end()) return *found->second;
  auto created = std::make_unique<Text>(Text{std::string(line), {}, 0});
  Text& text = *created;
  texts_[text.line] = std::move(created);
  held_bytes_ += line.size();
  return text;
}

// Once, for all who have said it; what they said before it comes first.
void Fold::emitFromAll(Text& text) {
  std::vector<int> instances = text.holders;
  std::sort(instances.begin(), instances.end());
  instances.erase(std::unique(instances.begin(), instances.end()), instances.end());
  for (const int instance : instances) {
    while (queueOf(instance).held.front() != &text) emitFirstOf(instance);
  }
  emitFirst(text, instances);
}

// Together with all for whom the same comes next.
void Fold::emitFirstOf(int instance) {
  Text& text = *queueOf(instance).held.front();
  std::vector<int> instances;
  for (const int holder : text.holders) {
    if (queueOf(holder).held.front() == &text) instances.push_back(holder);
  }
  std::sort(instances.begin(), instances.end());
  instances.erase(std::unique(instances.begin(), instances.end()), instances.end());
  emitFirst(text, instances);
}

// `text` comes next for all of `instances`.
void Fold::emitFirst(Text& text, const std::vector<int>& instances) {
  emit_(instances, text.line);
  for (const int instance : instances) {
    Queue& queue = queueOf(instance);
    queue.held.pop_front();
    ++queue.emitted;
    text.holders.erase(std::find(text.holders.begin(), text.holders.end(), instance));
    if (queue.open && !contains(text.holders, instance)) --text.open_holders;
  }
  held_lines_ -= instances.size();
  while (!due_.empty() && !isHeld(due_.front())) due_.pop_front();
  if (!text.holders.empty()) return;
  held_bytes_ -= text.line.size();
  texts_.erase(texts_.find(text.line));
}

// It comes next for its instance, as all that was said earlier is gone.
void Fold::emitOldest() {
  emitFromAll(*queueOf(due_.front().instance).held.front());
}

void Fold::close(int instance) {
  Queue& queue = queueOf(instance);
  if (!std::exchange(queue.open, false)) return;
  --num_open_;
  for (Text* text : std::set<Text*>(queue.held.begin(), queue.held.end())) --text->open_holders;
  emitSaidByAll();
  emitted_();
}

void Fold::emitSaidByAll() {
  const std::vector<Due> held(due_.begin(), due_.end());  // what is emitted leaves due_
  for (const Due& due : held) {
    if (!isHeld(due)) continue;
    const Queue& queue = queueOf(due.instance);
    Text& text = *queue.held[due.number - queue.emitted];
    if (saidByAll(text)) emitFromAll(text);
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
