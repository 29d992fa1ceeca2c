#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guides' C++ lines compile as users compile them: with -Wall -Wextra -Werror.

Takes every block of C++ out of docs/guide, each into a function of its own after what its page takes for granted, and
compiles all of them as one file. A block that is no C++, or only looks like it, is in OTHERS.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else "c++"

# Declared before all blocks: what the pages' programs have.
BEFORE = """
#include <chrono>
#include <cstdio>
#include <future>
#include <span>
#include <vector>
#include <popdist/popdist.hpp>
using namespace popdist;
namespace train = popdist::train;
namespace io = popdist::io;
namespace popart = popdist::popart;
template <typename... T> float train_(const T&...);
template <typename... T> float lossAndGradients(const T&...);
template <typename... T> void print(const T&...);
template <typename... T> void decodeJpeg(const T&...);
template <typename... T> int labelOf(const T&...);
template <typename... T> float lossOf(const T&...);
template <typename... T> Tensors predict(const T&...);
void step();
extern double correct;
template <typename T> T& made();
"""

# Declarations for a block's function, by the block's page and first line.
GIVEN = {
    ("data", "namespace io"): "auto& context = made<Context>(); auto train = [](auto... a) { return train_(a...); };",
    ("data", "auto arrays"): "namespace io = popdist::io;",
    ("data", "Tensors result"): "namespace loops = popdist::loops; auto& outfeed = made<io::Outfeed>();"
                                " auto& infeed = made<io::Infeed>();",
    ("data", "io::Latency"): "auto dataset = std::move(made<io::Dataset>());",
    ("training", "#include"): "auto& infeed = made<io::Infeed>(); std::uint64_t updates_per_epoch = 1;",
    ("training", "train::IpuMulti"): "auto& context = made<Context>();",
    ("training", "train::Variables"): "auto& context = made<Context>(); auto& batch = made<train::MicroBatch>();",
    ("training", "train::Trainer trainer"):
        "auto& strategy = made<train::Strategy>(); auto& parameters = made<train::Parameters>();"
        " train::Stage a, b, c, d; auto& losses = made<io::Outfeed>(); auto optimizer = train::sgd(0.1);",
    ("training", "train::Checkpoints"): "auto& context = made<Context>(); auto& infeed = made<io::Infeed>();"
                                        " auto& trainer = made<train::Trainer>();",
    ("training", "train::ProgressReport"): "auto& context = made<Context>(); auto& infeed = made<io::Infeed>();"
                                           " auto& trainer = made<train::Trainer>();",
    ("checkpoints", "namespace train"): "auto& context = made<Context>(); auto& infeed = made<io::Infeed>();"
                                        " auto& weights = made<Tensors>(); const std::uint64_t global_batch = 1;",
    ("checkpoints", "train::Checkpoint newest"): "auto& weights = made<Tensors>();",
    ("checkpoints", "const auto context"): "auto& parameters = made<train::Parameters>();"
                                        " auto& step = made<train::Step>();"
                                           " auto& test = made<io::Infeed>();",
    ("pipelines", "namespace train"): "auto& infeed = made<io::Infeed>(); auto& losses = made<io::Outfeed>();"
                                      " train::Stage hidden, loss; auto& values = made<Tensors>();"
                                      " auto& gradients = made<Tensors>();",
    ("pipelines", "train::Stage stage"): "std::vector<std::size_t> positions;"
                                         " auto block = [](int) { return train::Segment(); };",
    ("pipelines", "const train::StageTimes"): "using namespace std::chrono;",
    ("pipelines", "program.times"): "auto& program = made<train::PipelineProgram>();"
                                        " auto& pipeline = made<train::Pipeline>();"
                                    " auto& parameters = made<train::Parameters>();"
                                    " auto& optimizer = made<train::Optimizer>(); train::SimulationOptions times;",
    ("backends", "popdist::registerBackend"): "",
    ("pipelines", "using namespace"): "",
    ("popdistd", "context.report"): "auto& context = made<Context>();"
                                        " double samples = 1, seconds = 1, loss = 1, epoch = 1;",
    ("batch_norm", "#include"):
        "auto& context = made<Context>(); std::span<float> x, y, gamma, beta, weights, d_x, d_y,"
                                " d_gamma, d_beta;",
    ("asynchronous_collectives", "AsyncCommunicator"):
        "auto& context = made<Context>(); float data[1]; std::size_t count = 1;",
    ("popart_horovod", "#include"): "auto& model = made<popart::Model>(); auto& infeed = made<io::Infeed>();",
    ("popart_horovod", "popart::Model"):
        "std::function<void(const popart::Batch&)> forward, backward, loss, lossBackward;",
    ("scaling", "const popdist::Span"): "",
}
# Parts of a program whose rest is words.
OTHERS = {("fast_training", "int main"), ("asynchronous_collectives", "for (auto& tensor"),
          ("asynchronous_collectives", "FusedAllReduce"),
          ("asynchronous_collectives", "Buffer memory"), ("started_by_hand", "popdist::train::setTfConfig")}


def blocks(text):
    """Lists of the lines of each block, without their indentation; a blank line between two lines stays."""
    found = []
    for part in re.split(r"\n(?! {4}|\n {4})", text):
        lines = [line[4:] for line in part.split("\n") if line.startswith("    ")]
        if lines:
            found.append(lines)
    return found


def is_code(lines):
    return any(re.search(r"[;{]\s*(//.*)?$", line) for line in lines) and any(
        re.search(r"::|\w\(|\{\.", line) and line.split("//")[0].rstrip().endswith((";", "{")) for line in lines)


def compilable(lines):
    # The code's output, and commands, may follow it.
    shell = next((i for i, line in enumerate(lines) if line.startswith("$ ")), len(lines))
    code = "\n".join(line for line in lines[:shell] if not re.match(r"#include|popdist-data |[\w ,]+: ", line))
    code = re.sub(r"\{ … .*? … \}", "{}", code)
    code = re.sub(r"\{ … \}", "{}", code)
    return code.replace(", …", "").replace("…", "")


def compiled(source, *flags):
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(source)
        file.flush()
        return subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *flags,
                               f"-I{ROOT}/libpopdist/include", file.name], capture_output=True, text=True)


class GuideBlocks(unittest.TestCase):
    def test_all_compile(self):
        source, known = [BEFORE], set()
        for page in sorted((ROOT / "docs/guide").glob("*.md")):
            for number, lines in enumerate(blocks(page.read_text())):
                first = (page.stem, lines[0].strip())
                key = next((k for k in [*GIVEN, *OTHERS] if k[0] == first[0] and first[1].startswith(k[1])), None)
                if key is None:
                    self.assertFalse(is_code(lines), f"{page.name}: a new block of C++: {lines[0]}")
                    continue
                known.add(key)
                if key in GIVEN:
                    name = re.sub(r"\W", "_", f"{page.stem}_{number}")
                    code = compilable(lines)
                    given = GIVEN[key].replace("namespace io = popdist::io;", "")
                    source.append(f"void {name}() {{\n{given}\n{code}\n}}")
        self.assertEqual(known, {*GIVEN, *OTHERS}, "blocks that are in no guide any more")
        done = compiled("\n".join(source), "-Wno-unused-variable", "-Wno-unused-but-set-variable",
                        "-Wno-unused-value", "-Wno-unused-parameter", "-Wno-uninitialized")
        self.assertEqual(done.returncode, 0, done.stderr[:6000])


class Sentences(unittest.TestCase):
    """The compiler's message about a typed collective that cannot be."""

    def said(self, call):
        done = compiled(f"#include <popdist/communicator.hpp>\n#include <string>\n#include <vector>\n"
                        f"void f(popdist::Communicator& c, const std::vector<float>& constant) {{ {call}; }}\n",
                        "-Wno-unused-parameter")
        self.assertNotEqual(done.returncode, 0, call)
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        self.assertEqual(len(errors), 1, done.stderr[:6000])
        self.assertLess(len(done.stderr.splitlines()), 15, call)
        return errors[0]

    def test_of_other_arguments(self):
        for call in ["float x = 1; c.allReduce(&x)", "c.allReduceSum(nullptr)",
                     "c.broadcast(std::vector<float>::iterator(), 0)"]:
            self.assertIn("popdist: a collective takes contiguous elements", self.said(call))

    def test_of_constants(self):
        for call in ["c.allReduce(constant)", "c.broadcast(std::span<const int>(), 0)"]:
            self.assertIn("popdist: a collective in place writes into its data", self.said(call))

    def test_of_types(self):
        self.assertIn("popdist: this element type", self.said("std::vector<std::string> v; c.allReduce(v)"))

    def test_what_can_be_compiles(self):
        done = compiled("#include <popdist/communicator.hpp>\n#include <array>\n#include <vector>\n"
                        "void f(popdist::Communicator& c) { std::vector<float> v; std::array<int, 2> a; double d[2];"
                        " float x; c.allReduce(v); c.allReduceSum(a); c.broadcast(d, 0);"
                        " c.allReduce(std::span(&x, 1)); x = c.allReduce(1.0F); x = c.allReduceSum(x);"
                        " c.broadcast(3.0, 0); c.allReduce(a, a); }")
        self.assertEqual(done.returncode, 0, done.stderr[:6000])


if __name__ == "__main__":
    unittest.main()
