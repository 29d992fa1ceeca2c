// SPDX-License-Identifier: Apache-2.0
// Dataset::tar: what it reads, and what it says about archives it refuses.
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/data/data_files.h"
#include "tests/unit/libpopdist/data/datasets.h"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace popdist::io {
namespace {

using ::testing::ElementsAre;
using testing::expectError;
using testing::tarEnd;
using testing::tarFile;
using testing::tarHeader;
using testing::tarLink;
using testing::withTarChecksum;
using testing::writeText;

const Spec kElement{{"img", Type::kUint8, {2, 2}}, {"cls", Type::kUint8, {}}};

/// The arguments of a function's calls.
using Seen = std::vector<std::string>;

Seen contentsOf(const std::vector<std::filesystem::path>& archives) {
  Seen seen;
  const Dataset dataset =
      Dataset::tar(archives, {{"x", Type::kUint8, {}}}, [&seen](const TarElement& files, TensorRefs) {
        const auto content = files.file("txt");
        seen.push_back(std::string(files.key()) + '=' +
                       std::string(reinterpret_cast<const char*>(content.data()), content.size()));
      });
  Tensors element(dataset.spec());
  for (std::uint64_t i = 0; dataset.read(0, i, element);) ++i;
  return seen;
}

class TarDataset : public ::testing::Test {
 protected:
  void expectRefused(const std::string& archive, ErrorCode code, const std::string& cause) const {
    writeText(path_, archive);
    expectError([&] { Dataset::tar({path_}, kElement); }, code, cause);
    expectError([&] { Dataset::tar({path_}, kElement); }, code, path_.string());
  }
  Seen contents(const std::string& archive) const {
    writeText(path_, archive);
    return contentsOf({path_});
  }

  pop::testing::TempDir dir_;
  std::filesystem::path path_ = dir_ / "data.tar";
};

TEST_F(TarDataset, FilesThatShareANameAreAnElement) {
  writeText(path_, tarFile("a/0.img", "abcd") + tarFile("a/0.cls", "\1") + tarFile("a/1.CLS", "\2") +
                       tarFile("a/1.img", "efgh") + tarEnd());
  const Dataset dataset = Dataset::tar({path_}, kElement);
  EXPECT_EQ(dataset.size(), 2U);
  Tensors element(dataset.spec());
  ASSERT_TRUE(dataset.read(0, 1, element));
  EXPECT_THAT(element.get<std::uint8_t>("img"), ElementsAre('e', 'f', 'g', 'h'));
  EXPECT_THAT(element.get<std::uint8_t>("cls"), ElementsAre(2));
  EXPECT_FALSE(dataset.read(0, 2, element));
}

TEST_F(TarDataset, AFunctionDecodesFilesOfAnySize) {
  writeText(path_, tarFile("0.seg.txt", "x") + tarFile("0.txt", "") + tarFile("1.txt", "hello") + tarEnd());
  EXPECT_EQ(contentsOf({path_}), (Seen{"0=", "1=hello"}));
  const auto error = [&] {
    const Dataset dataset = Dataset::tar({path_}, kElement, [](const TarElement& files, TensorRefs) {
      EXPECT_TRUE(files.has("txt"));
      files.file("jpg");
    });
    Tensors element(dataset.spec());
    dataset.read(0, 0, element);
  };
  expectError(error, ErrorCode::kNotFound,
              "element '0' has no file with the extension 'jpg', only seg.txt, txt");
}

TEST_F(TarDataset, PassesOverWhatIsNoFileOfAnElement) {
  EXPECT_EQ(
      contents(tarFile("d", "", '5') + tarFile("d/README", "?") + tarFile("d/.hidden.txt", "?") +
               tarFile("__meta__/k.txt", "?") + tarFile("train-1.0", "", '5') + tarFile("old.d/", "") +
               tarFile("label", "?", 'V') + tarFile("0.txt", "zero") + tarLink("v.d", "train-1.0", '2') +
               tarFile("d.d/1.txt", "one") + tarEnd() + "what comes behind the end"),
      (Seen{"0=zero", "d.d/1=one"}));
}

TEST_F(TarDataset, TakesWhatOtherReadersTake) {
  EXPECT_EQ(contents(tarFile("__a.txt", "a") + tarFile("__b__.txt", "b") + tarFile("d/__c/c.txt", "c") +
                     tarFile("e.txt", "e", '7') + tarFile("f.txt", "f", '?') + tarEnd()),
            (Seen{"__a=a", "__b__=b", "d/__c/c=c", "e=e", "f=f"}));
}

TEST_F(TarDataset, ReadsThroughLinks) {
  const std::string zero = tarFile("./d/0.txt", "zero");
  EXPECT_EQ(contents(zero + tarLink("1.txt", "./d/0.txt", '1') + tarLink("e/2.txt", "../d/./0.txt", '2') +
                     tarLink("e/3.txt", "2.txt", '2') + tarLink("4.txt", "e/3.txt", '1') + tarEnd()),
            (Seen{"./d/0=zero", "1=zero", "e/2=zero", "e/3=zero", "4=zero"}));
  EXPECT_EQ(contents(tarLink("1.txt", "blob", '2') + tarLink("2.txt", "blob", '1') + tarFile("blob", "late") +
                     tarEnd()),
            (Seen{"1=late", "2=late"}));
  EXPECT_EQ(contents(tarFile("blob", "a") + tarLink("1.txt", "blob", '1') + tarLink("2.txt", "blob", '2') +
                     tarFile("blob", "b") + tarEnd()),
            (Seen{"1=a", "2=b"}))
      << "as tar extracts them";
  const std::string target(90, 't');
  EXPECT_EQ(contents(tarFile("././@LongLink", target + '\0', 'L') + tarFile("ttt", "long") +
                     tarFile("././@LongLink", target + '\0', 'K') + tarLink("1.txt", "ttt", '1') +
                     tarFile("x", "103 linkpath=" + target.substr(1) + "\n", 'x') +
                     tarLink("2.txt", "ttt", '1') + tarFile(target.substr(1), "pax") + tarEnd()),
            (Seen{"1=long", "2=pax"}));
}

TEST_F(TarDataset, RefusesLinksThatLeadToNoFile) {
  const auto refuse = [&](const std::string& members, const std::string& cause) {
    expectRefused(tarFile("0.img", "abcd") + members + tarEnd(), ErrorCode::kInvalidArgument, cause);
  };
  for (const char kind : {'1', '2'}) {
    refuse(tarLink("1.img", "2.img", kind), "'1.img' is a link to '2.img', and the archive has no '2.img'");
    refuse(tarLink("1.img", "", kind), "'1.img' is a link to ''");
    refuse(tarLink("1.img", "1.img", kind), "'1.img' is a link to '1.img'");
    refuse(tarFile("pipe", "", '6') + tarLink("1.img", "pipe", kind), "'1.img' is a link to 'pipe'");
    refuse(tarLink("1.img", "/d/0.img", kind), "has no '/d/0.img'");
    refuse(tarLink("1.img", "../0.img", kind), "has no '../0.img'");
  }
  refuse(tarLink("1.img", "2.img", '2') + tarLink("2.img", "1.img", '2'), "in a circle");
  refuse(tarFile("1.img", "", '6'), "'1.img' is no file");
  refuse(tarFile("real/1.img", "a") + tarLink("link", "real", '2'),
         "'link' is a link to 'real', and that is a directory");
  refuse(tarFile("real/1.img", "a") + tarLink("link.d", "real/", '2'), "that is a directory");
  refuse(tarLink("train", "../other/train", '2'), "the archive has no '../other/train'");
  writeText(path_, tarFile("0.txt", "a") + tarEnd());
  writeText(dir_ / "b.tar", tarLink("1.txt", "0.txt", '1') + tarEnd());
  expectError([&] { contentsOf({path_, dir_ / "b.tar"}); }, ErrorCode::kInvalidArgument, "b.tar");
}

TEST_F(TarDataset, ReadsLinksThatTarWrites) {
  writeText(dir_ / "0.txt", "zero");
  std::filesystem::create_hard_link(dir_ / "0.txt", dir_ / "1.txt");
  std::filesystem::create_symlink("1.txt", dir_ / "2.txt");
  for (const std::string format : {"ustar", "pax", "gnu", "v7"}) {
    const std::string command = "cd " + dir_.path() + " && tar --sort=name --format=" + format +
                                " -cf data.tar ./0.txt ./1.txt ./2.txt";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(contentsOf({path_}), (Seen{"./0=zero", "./1=zero", "./2=zero"})) << format;
  }
}

TEST_F(TarDataset, RefusesAnArchiveWithAHole) {
  const auto refused = [&](const std::string& archive) {
    expectError([&] { contents(archive); }, ErrorCode::kDataLoss, "header at byte 1024 is");
  };
  const std::string first = tarFile("0.txt", "zero");
  refused(first + std::string(512, '\0') + tarFile("1.txt", "one") + tarEnd());
  refused(first + tarEnd() + tarFile("1.txt", "one") + tarEnd());
  refused(first + std::string(3 << 20, '\0'));
  EXPECT_EQ(contents(first + std::string(1 << 20, '\0')), (Seen{"0=zero"})) << "tar --blocking-factor 2048";
}

TEST_F(TarDataset, ReadsSeveralArchivesAndGzip) {
  writeText(path_, tarFile("0.txt", "a") + tarEnd());
  const std::string more = tarFile("0.txt", "b") + tarEnd();
  testing::writeGzip(dir_ / "more.tar.gz", testing::Bytes(more.begin(), more.end()));
  EXPECT_EQ(contentsOf({path_, dir_ / "more.tar.gz"}), (Seen{"0=a", "0=b"}));
}

TEST_F(TarDataset, ReadsLongNamesAndSizesOfEveryFormat) {
  const std::string name(150, 'n');
  EXPECT_EQ(contents(tarFile("././@LongLink", name + ".txt" + '\0', 'L') + tarFile("nnn", "gnu") + tarEnd()),
            (Seen{name + "=gnu"}));
  const std::string line = "164 path=" + name + ".txt\n";
  ASSERT_EQ(line.size(), 164U);
  EXPECT_EQ(contents(tarFile("g", "20 comment=whatever\n", 'g') + tarFile("x", line, 'x') +
                     tarFile("nnn", "pax") + tarEnd()),
            (Seen{name + "=pax"}));
  std::string ustar = tarHeader("1.txt", 5);
  ustar.replace(345, 5, "a/b.c");
  EXPECT_EQ(contents(withTarChecksum(ustar) + "ustar" + std::string(507, '\0') + tarEnd()),
            (Seen{"a/b.c/1=ustar"}));
  std::string binary = tarHeader("2.txt", 0);
  binary.replace(124, 12, std::string("\x80\0\0\0\0\0\0\0\0\0\0\3", 12));
  EXPECT_EQ(contents(withTarChecksum(binary) + "abc" + std::string(509, '\0') + tarEnd()), (Seen{"2=abc"}));
  EXPECT_EQ(contents(tarFile("x", "9 size=3\n", 'x') + withTarChecksum(tarHeader("3.txt", 0)) + "abc" +
                     std::string(509, '\0') + tarEnd()),
            (Seen{"3=abc"}));
}

TEST_F(TarDataset, ReadsWhatTarWrites) {
  const std::string deep = std::string(60, 'd') + '/' + std::string(60, 'e');
  std::filesystem::create_directories(dir_ / deep);
  writeText(dir_ / deep / "0.txt", "zero");
  writeText(dir_ / deep / "1.txt", std::string(1000, '1'));
  for (const std::string format : {"ustar", "pax", "gnu", "v7"}) {
    const std::string files =
        format == "v7" ? "-C " + std::string(60, 'd') + " " + std::string(60, 'e') : deep;
    const std::string command =
        "cd " + dir_.path() + " && tar --sort=name --format=" + format + " -cf data.tar " + files;
    ASSERT_EQ(std::system(command.c_str()), 0);
    const std::string key = format == "v7" ? std::string(60, 'e') : deep;
    EXPECT_EQ(contentsOf({path_}), (Seen{key + "/0=zero", key + "/1=" + std::string(1000, '1')})) << format;
  }
}

TEST_F(TarDataset, RefusesElementsThatDoNotFit) {
  const auto refuse = [&](const std::string& files, ErrorCode code, const std::string& cause) {
    expectRefused(tarFile("a/0.img", "abcd") + tarFile("a/0.cls", "\1") + files + tarEnd(), code, cause);
  };
  refuse(tarFile("a/1.img", "efgh"), ErrorCode::kNotFound,
         "element 'a/1' has no file with the extension 'cls', only img");
  refuse(tarFile("a/1.img", "efg") + tarFile("a/1.cls", "\2"), ErrorCode::kInvalidArgument,
         "'img' has 3 bytes, expected the 4 of img: uint8 [2, 2]");
  refuse(tarFile("a/0.img", "efgh"), ErrorCode::kInvalidArgument, "has two files with the extension 'img'");
  expectError([&] { Dataset::tar({}, kElement); }, ErrorCode::kInvalidArgument, "no files");
  expectError([&] { Dataset::tar({path_}, {}); }, ErrorCode::kInvalidArgument, "no tensor");
}

TEST_F(TarDataset, NamesDamage) {
  const std::string file = tarFile("0.img", "abcd");
  expectRefused("", ErrorCode::kInvalidArgument, "is no tar archive");
  expectRefused(std::string(600, 'x'), ErrorCode::kInvalidArgument, "is no tar archive");
  expectRefused(file, ErrorCode::kDataLoss, "truncated at byte 1024: its end");
  expectRefused(file.substr(0, 514), ErrorCode::kDataLoss, "a file of 4 bytes has 2 of them");
  expectRefused(file + std::string(100, '\0'), ErrorCode::kDataLoss, "truncated");
  std::string damaged = file + file + tarEnd();
  damaged[1024] ^= 1;
  expectRefused(damaged, ErrorCode::kDataLoss, "the header at byte 1024 has another checksum");
  expectRefused(file + tarFile("x", "12 path=1.x\n", 'x') + tarEnd(), ErrorCode::kDataLoss, "announced");
  expectRefused(tarFile("g", "12 path=1.x\n", 'g') + file + tarEnd(), ErrorCode::kDataLoss, "all members");
  expectRefused(file + tarFile("1.img", "cd", 'M') + tarEnd(), ErrorCode::kDataLoss, "a part of '1.img'");
  const std::string whole = file + tarEnd();
  testing::writeGzip(path_, testing::Bytes(whole.begin(), whole.end()));
  std::ofstream(path_, std::ios::app) << "\x1f\x8c and what was another member";
  expectError([&] { Dataset::tar({path_}, kElement); }, ErrorCode::kDataLoss, path_.string());
}

TEST_F(TarDataset, RefusesSizesBeyondTheFile) {
  for (const std::string& size : {std::string("77777777777\0", 12), "\x80" + std::string(11, '\xff')}) {
    std::string header = tarHeader("0.img", 0);
    header.replace(124, 12, size);
    writeText(path_, withTarChecksum(header) + tarEnd());
    EXPECT_THROW(Dataset::tar({path_}, kElement), popdist_error);
  }
  const auto refuse = [&](const std::string& lines, const std::string& cause) {
    expectRefused(tarFile("x", lines, 'x') + tarFile("0.img", "abcd") + tarEnd(), ErrorCode::kDataLoss,
                  cause);
  };
  refuse("29 size=18446744073709551615\n", "truncated");
  refuse("99999999999999999999 path=x\n", "not as long as it says");
  refuse("18446744073709551615 path=x\n", "not as long as it says");
  refuse("99 path=x\n", "not as long as it says");
  refuse("1 path=x\n", "not as long as it says");
  refuse("0 path=x\n", "not as long as it says");
  refuse("path=x\n", "not as long as it says");
  refuse("7 path\n", "a line without =");
  refuse("22 GNU.sparse.major=1\n", "sparse");
  refuse("10 size=x\n", "a size that is no number");
  expectRefused(tarFile("0.img", "abcd", 'S') + tarEnd(), ErrorCode::kDataLoss, "sparse");
}

}  // namespace
}  // namespace popdist::io
