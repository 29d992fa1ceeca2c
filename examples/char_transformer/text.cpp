// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace {

namespace io = popdist::io;

std::string readAll(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const int error = std::filesystem::is_directory(path) ? EISDIR : errno;
  if (file.is_open() && !file.bad() && error != EISDIR) return bytes.str();
  throw std::runtime_error("cannot read " + path + ": " + std::strerror(error != 0 ? error : EIO) +
                           "; name another text by --text");
}

class Windows final : public io::Source {
 public:
  Windows(std::vector<std::uint8_t> text, std::size_t length, std::size_t count, std::size_t step)
      : text_(std::move(text)),
        count_(count),
        step_(step),
        spec_{{"text", popdist::Type::kUint8, {length}}} {}

  const popdist::Spec& spec() const override { return spec_; }
  std::uint64_t size() const override { return count_; }
  void read(std::uint64_t index, popdist::TensorRefs element) const override {
    const auto to = element.get<std::uint8_t>(0);
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(index * step_), to.size(), to.begin());
  }

 private:
  std::vector<std::uint8_t> text_;
  std::size_t count_, step_;
  popdist::Spec spec_;
};

}  // namespace

Text::Text(const std::string& path, std::size_t least) {
  const std::string all = readAll(path);
  if (all.size() < least)
    throw std::runtime_error(path + " is too short: it has " + std::to_string(all.size()) +
                             " characters, and with these options at least " + std::to_string(least) +
                             " are needed; give a longer --text, or a shorter --context");
  const std::set<char> kinds(all.begin(), all.end());
  if (kinds.size() < 2)
    throw std::runtime_error(path + " has only one kind of character: there is nothing to learn");
  bytes_.assign(kinds.begin(), kinds.end());
  const std::vector<std::uint8_t> numbers = numbersOf(all);
  const auto end = numbers.end() - static_cast<std::ptrdiff_t>(numbers.size() / 10);
  training_.assign(numbers.begin(), end);
  held_out_.assign(end, numbers.end());
}

std::string Text::bytesOf(const std::vector<std::uint8_t>& numbers) const {
  std::string bytes;
  for (const std::uint8_t number : numbers) bytes += bytes_[number];
  return bytes;
}

std::vector<std::uint8_t> Text::numbersOf(std::string_view bytes) const {
  std::vector<std::uint8_t> numbers;
  for (const char byte : bytes) {
    const std::size_t at = bytes_.find(byte);
    if (at != std::string::npos) numbers.push_back(static_cast<std::uint8_t>(at));
  }
  return numbers;
}

std::vector<double> Text::shares() const {
  const double all = static_cast<double>(training_.size() + characters());
  std::vector<double> shares(characters(), 1 / all);  // as if each had come once more
  for (const std::uint8_t each : training_) shares[each] += 1 / all;
  return shares;
}

double Text::unigramBits() const {
  const std::vector<double> share = shares();
  double bits = 0;
  for (const std::uint8_t each : held_out_) bits -= std::log2(share[each]);
  return bits / static_cast<double>(held_out_.size());
}

double Text::bigramBits() const {
  constexpr double kMixedIn = 5;
  const std::vector<double> share = shares();
  std::vector<std::vector<double>> pairs(characters(), std::vector<double>(characters()));
  std::vector<double> all(characters());
  for (std::size_t i = 1; i < training_.size(); ++i) {
    ++pairs[training_[i - 1]][training_[i]];
    ++all[training_[i - 1]];
  }
  double bits = 0;
  for (std::size_t i = 1; i < held_out_.size(); ++i) {
    const std::uint8_t before = held_out_[i - 1];
    const std::uint8_t now = held_out_[i];
    bits -= std::log2((pairs[before][now] + kMixedIn * share[now]) / (all[before] + kMixedIn));
  }
  return bits / static_cast<double>(held_out_.size() - 1);
}

io::Dataset windowsOf(const std::vector<std::uint8_t>& text, std::size_t context) {
  return io::Dataset::fromSource(std::make_shared<Windows>(text, context + 1, text.size() - context, 1));
}

io::Dataset windowsOf(const std::vector<std::uint8_t>& text, std::size_t context, std::size_t count) {
  const std::size_t there = text.size() > context ? text.size() - context : 0;
  if (there < count)
    throw std::runtime_error("the text is too short: an evaluation reads " + std::to_string(count) +
                             " windows of " + std::to_string(context) +
                             " characters, and its last tenth has " + std::to_string(there) +
                             "; give a longer --text, fewer replicas or a smaller --micro-batch");
  return io::Dataset::fromSource(std::make_shared<Windows>(text, context + 1, count, there / count));
}
