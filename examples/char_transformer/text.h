// SPDX-License-Identifier: Apache-2.0
// A text to learn from, as numbers of its characters (bytes), and what simpler models would say of it.
#pragma once

#include <cstdint>
#include <popdist/popdist.hpp>
#include <string>
#include <string_view>
#include <vector>

class Text {
 public:
  /// The text of a file. The last tenth is held out: nothing is learned from it. Throws std::runtime_error
  /// naming the file if it cannot be read, or has fewer than `least` characters, or only one kind.
  Text(const std::string& path, std::size_t least);

  std::size_t characters() const { return bytes_.size(); }  ///< different ones
  const std::vector<std::uint8_t>& training() const { return training_; }
  const std::vector<std::uint8_t>& heldOut() const { return held_out_; }

  std::string bytesOf(const std::vector<std::uint8_t>& numbers) const;
  /// The numbers of the characters that the text has; others are left out.
  std::vector<std::uint8_t> numbersOf(std::string_view bytes) const;

  /// Bits per character of the held-out text for one who knows how often each character comes in the rest,
  /// and for one who knows it of each pair. What single characters say is mixed into pairs, with the weight
  /// of 5.
  double unigramBits() const;
  double bigramBits() const;

 private:
  std::vector<double> shares() const;  ///< of single characters, in the training's part

  std::string bytes_;  ///< that occur, ascending
  std::vector<std::uint8_t> training_, held_out_;
};

/// Windows of context + 1 characters, named "text": one that begins at every place of `text`.
popdist::io::Dataset windowsOf(const std::vector<std::uint8_t>& text, std::size_t context);

/// `count` of them, evenly spaced. Throws std::runtime_error if there are fewer.
popdist::io::Dataset windowsOf(const std::vector<std::uint8_t>& text, std::size_t context, std::size_t count);
