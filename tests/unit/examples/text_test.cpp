// SPDX-License-Identifier: Apache-2.0
// The transformer's text: numbers of characters, windows, and what simpler models say of it.
#include "examples/char_transformer/text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "tests/testing/temp_dir.h"

namespace {

class Texts : public ::testing::Test {
 protected:
  std::string fileOf(const std::string& bytes) {
    const std::filesystem::path path = directory_ / "text";
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  std::string errorOf(const std::string& path, std::size_t least = 10) {
    try {
      Text text(path, least);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  const pop::testing::TempDir directory_;
};

TEST_F(Texts, AreNumbersOfTheirCharacters) {
  const Text text(fileOf("banana-banana-banana"), 10);
  EXPECT_EQ(text.characters(), 4U);  // - a b n
  EXPECT_EQ(text.training().size(), 18U);
  EXPECT_EQ(text.heldOut().size(), 2U);
  EXPECT_EQ(text.bytesOf(text.training()), "banana-banana-bana");
  EXPECT_EQ(text.numbersOf("nab?"), (std::vector<std::uint8_t>{3, 1, 2}));
}

TEST_F(Texts, ThatAreNotThereOrTooShortAreNamed) {
  EXPECT_NE(errorOf("/nonexistent/text").find("cannot read /nonexistent/text: No such file"),
            std::string::npos);
  EXPECT_NE(errorOf(directory_.path()).find("cannot read " + directory_.path()), std::string::npos);
  EXPECT_NE(
      errorOf(fileOf("abc")).find("is too short: it has 3 characters, and with these options at least 10"),
      std::string::npos);
  EXPECT_NE(errorOf(fileOf(std::string(100, 'a'))).find("only one kind of character"), std::string::npos);
}

// Pairs say what follows; single characters do not.
TEST_F(Texts, PairsKnowMoreThanSingleCharacters) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += "abcd"[i % 4];
  const Text text(fileOf(bytes), 10);
  EXPECT_NEAR(text.unigramBits(), 2, 0.01);
  EXPECT_NEAR(text.bigramBits(), 0, 0.01);
}

TEST_F(Texts, WindowsBeginAtEveryPlaceOrAreEvenlySpaced) {
  const Text text(fileOf("0123456789abcdefghij"), 10);
  const popdist::io::Dataset all = windowsOf(text.training(), 3);
  EXPECT_EQ(all.size(), 15U);
  popdist::Tensors window(all.spec());
  all.read(0, 14, window);
  const auto read = window.get<std::uint8_t>("text");
  EXPECT_EQ(text.bytesOf({read.begin(), read.end()}), "efgh");
  const popdist::io::Dataset some = windowsOf(text.training(), 3, 5);
  some.read(0, 4, window);
  EXPECT_EQ(text.bytesOf({read.begin(), read.end()}), "cdef");
  EXPECT_THROW(windowsOf(text.heldOut(), 3, 1), std::runtime_error);
}

}  // namespace
