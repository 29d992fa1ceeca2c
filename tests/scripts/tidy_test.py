# SPDX-License-Identifier: Apache-2.0
"""tidy complains about each thing it is there for, and about nothing in a clean tree."""
import sys
import unittest

sys.dont_write_bytecode = True
from sample_tree import SampleTreeTest  # noqa: E402

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = LICENCE + "#pragma once\n"
SCRIPT = "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"

# (file, its text, a part of the complaint)
BAD = [
    ("common/a.cpp", "int x;\n", "no SPDX line"),
    ("common/a.h", LICENCE + "int x;\n", "without '#pragma once'"),
    ("common/a.cpp", LICENCE + "int x; \n", ":2: white space at the end"),
    ("common/a.cpp", LICENCE + "\tint x;\n", ":2: tab"),
    ("common/a.cpp", LICENCE + "int x;", "no line feed at the end"),
    ("common/a.cpp", LICENCE + "int x;\r\n", "carriage returns"),
    ("common/a.cpp", LICENCE + "// " + "x" * 118 + "\n", "121 characters"),
    ("common/a.cpp", LICENCE.encode() + b"// \xff\n", "not UTF-8"),
    ("common/a.cpp", LICENCE + "// TODO: later\n", "'TODO' is banned"),
    ("common/a.cpp", LICENCE + "// FIXME\n", "'FIXME' is banned"),
    ("common/a.cpp", LICENCE + "// XXX\n", "'XXX' is banned"),
    ("common/a.cpp", LICENCE + "// a HACK\n", "'HACK' is banned"),
    ("common/a.cpp", LICENCE + "using namespace std;\n", "banned in C++"),
    ("common/a.cpp", LICENCE + "void f() { std::cout << std::endl; }\n", "'std::endl' is banned"),
    ("tests/a_test.cpp", LICENCE + "void f() { std::this_thread::sleep_for(x); }\n", "'sleep_for' is banned in tests"),
    ("tests/a_test.cpp", LICENCE + "void f() { usleep(5); }\n", "'usleep(' is banned in tests"),
    ("tests/a_test.cpp", LICENCE + "void f() { ::sleep(5); }\n", "'sleep(' is banned in tests"),
    ("tests/a_test.py", "# SPDX-License-Identifier: Apache-2.0\ntime.sleep(5)\n", "'sleep(' is banned in tests"),
    ("docs/a.md", "see /work/main\n", "path of one machine"),
    ("docs/a.md", "see /root/notes\n", "path of one machine"),
    ("common/BadName.cpp", LICENCE, "snake_case"),
    ("scripts/bad-name", SCRIPT, "snake_case"),
    ("scripts/plain", LICENCE, "without a '#!' line"),
    ("common/long.cpp", LICENCE + "\n" * 400, "common/long.cpp has 401 lines, at most 400"),
    ("common/f.cpp", LICENCE + "void f() {\n" + "g();\n" * 69 + "}\n", "common/f.cpp:f has 71 lines, at most 70"),
    ("common/f.cpp", LICENCE + "C::C(int x)\n : x_{x}, y_(2) {\n" + "g();\n" * 68 + "}\n", "C::C has 71 lines"),
    ("common/f.h", HEADER + "class C {\n int f() const {\n" + "g();\n" * 69 + "}\n};\n", "f.h:f has 71 lines"),
    ("scripts/f.py", "# SPDX-License-Identifier: Apache-2.0\ndef f():\n" + "    g()\n" * 70, "f.py:f has 71 lines"),
]

# (file, its text): near misses
GOOD = [
    ("common/a.h", HEADER + "namespace pop {\nint x;\n}\n"),
    ("common/a.cpp", LICENCE + "// " + "é" * 117 + "\n"),
    ("common/b.cpp", LICENCE + "using namespace std::chrono_literals;\n"),
    ("common/c.cpp", LICENCE + 'auto name = "/tmp/XXXXXX";\n'),
    ("agent/keeper/d.cpp", LICENCE + "void f() { usleep(5); }\n"),
    ("tests/e_test.cpp", LICENCE + 'auto program = {"sleep", "60"};\n'),
    ("common/f.cpp", LICENCE + "void f() {\n" + "g();\n" * 68 + "}\n"),
    ("common/g.cpp", LICENCE + "constexpr int kTable[] = {\n" + "1,\n" * 100 + "};\n"),
    ("common/h.cpp", LICENCE + "namespace pop {\nclass C {\n" + "int x;\n" * 100 + "};\n}\n"),
    ("common/i.cpp", LICENCE + "int f() {\n  return '}' + s(\"}\") + R\"(}}})\";  // }\n}\n" + "int g();\n" * 100),
    ("docs/0001-why.md", "| " + "x" * 200 + " |\n"),
    ("build/release/generated.cpp", "\t"),
    ("LICENSE", "\ttext \n"),
]


class Tidy(SampleTreeTest):
    def assert_complains(self, complaint: str):
        code, output = self.run_script("tidy")
        self.assertEqual(code, 1, output)
        self.assertIn(complaint, output)
        self.assertIn(" 1 findings", output)

    def test_each_broken_rule_is_reported_once(self):
        for path, text, complaint in BAD:
            with self.subTest(complaint=complaint):
                self.write(path, text, 0o644 if "." in path else 0o755)
                try:
                    self.assert_complains(complaint)
                finally:
                    (self.root / path).unlink()

    def test_near_misses_pass(self):
        for path, text in GOOD:
            self.write(path, text)
        code, output = self.run_script("tidy")
        self.assertEqual((code, output), (0, f"tidy: {len(GOOD) - 2} files, 0 findings\n"))

    def test_a_script_has_to_be_executable(self):
        self.write("scripts/run", SCRIPT, 0o644)
        self.assert_complains("scripts/run:1: script that is not executable")


class TidyBaseline(SampleTreeTest):
    def write_function(self, lines: int):
        self.write("common/f.cpp", LICENCE + "void f() {\n" + "g();\n" * (lines - 2) + "}\n")

    def run_with_baseline(self, text: str) -> tuple[int, str]:
        self.write("scripts/tidy_baseline.txt", text)
        return self.run_script("tidy")

    def test_a_recorded_offender_passes_at_its_size(self):
        self.write_function(80)
        self.assertEqual(self.run_with_baseline("# why\n80 common/f.cpp:f\n")[0], 0)

    def test_a_recorded_offender_may_not_grow(self):
        self.write_function(81)
        self.assertIn("has 81 lines, at most 80", self.run_with_baseline("80 common/f.cpp:f\n")[1])

    def test_a_smaller_offender_has_to_be_recorded_as_smaller(self):
        self.write_function(79)
        code, output = self.run_with_baseline("80 common/f.cpp:f\n")
        self.assertEqual(code, 1)
        self.assertIn("write 79 instead of 80", output)

    def test_a_cured_offender_has_to_leave_the_list(self):
        self.write_function(10)
        code, output = self.run_with_baseline("80 common/f.cpp:f\n")
        self.assertEqual(code, 1)
        self.assertIn("remove its line", output)


if __name__ == "__main__":
    unittest.main()
