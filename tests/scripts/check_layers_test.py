# SPDX-License-Identifier: Apache-2.0
"""check_layers finds includes that go up, sideways or out of their home, and lets the others pass."""
import sys
import unittest

sys.dont_write_bytecode = True
from sample_tree import SampleTreeTest  # noqa: E402

FORBIDDEN = [
    # (file, what it includes, a part of the complaint)
    ("common/base/status.h", '"common/sys/fd.h"', "common/base may not see common/sys/fd.h"),
    ("common/contract/frame.cpp", '"common/sys/fd.h"', "it sees common/base"),
    ("common/sys/fd.h", '"common/contract/frame.h"', "common/sys may not see"),
    ("common/model/placement.h", '"common/sys/fd.h"', "common/model may not see"),
    ("common/os/epoll_loop.h", '"common/model/placement.h"', "common/os may not see"),
    ("controller/core/job.h", '"common/os/epoll_loop.h"', "controller/core may not see"),
    ("agent/core/agent_core.h", '"common/sys/fd.h"', "agent/core may not see common/sys/fd.h"),
    ("agent/core/agent_core.h", '"controller/core/job.h"', "common/ports"),
    ("agent/io/output_pump.h", '"agent/keeper/keeper.h"', "agent/io may not see agent/keeper"),
    ("agent/keeper/keeper.h", '"agent/job/local_agent.h"', "agent/keeper may not see agent/job/local_agent.h"),
    ("poprun/plan/explain.h", '"poprun/ui/summary.h"', "poprun/plan may not see"),
    ("poprun/ui/summary.h", '"agent/core/ports.h"', "poprun/ui may not see"),
    ("libpopdist/collectives/plan/ring.h", '"libpopdist/collectives/messages/exec/executor.h"',
     "libpopdist/collectives/plan may not see"),
    ("libpopdist/data/shard.h", '"libpopdist/collectives/plan/ring.h"', "libpopdist/data/tensor"),
    ("libpopdist/collectives/context/context.h", '"common/model/placement.h"',
     "libpopdist/collectives/context may not see"),
    ("pod/system/topology.h", '"libpopdist/pod/device/device.h"', "pod/system may not see"),
    ("libpopdist/include/popdist/io.hpp", '"common/base/status.h"', "libpopdist/include may not see"),
    ("libpopdist/include/popdist/io.hpp", "<unistd.h>", "standard library only"),
    ("examples/fashion_mnist.cpp", '"libpopdist/collectives/plan/plan.h"', "examples may not see"),
    # third-party headers away from home, or unknown
    ("agent/keeper/spawn.cpp", "<hwloc.h>", "agent/topo/*"),
    ("poprun/app.cpp", "<CLI/CLI.hpp>", "*/options.cpp"),
    ("poprun/app.cpp", '"CLI/CLI.hpp"', "*/options.cpp"),
    ("common/os/helper_run.h", "<boost/asio/io_context.hpp>", "common/os/helper_*.cpp"),
    ("agent/job/local_agent.cpp", "<spdlog/spdlog.h>", "common/log/*"),
    ("libpopdist/collectives/api/context.cpp", "<zlib.h>", "libpopdist/data/formats/*"),
    ("libpopdist/pod/device/device.cpp", "<oneapi/dnnl/dnnl.hpp>", "examples/kernels/convolution.cpp"),
    ("common/sys/fd.h", "<gtest/gtest.h>", "tests/*"),
    ("agent/keeper/spawn.cpp", "<grpcpp/grpcpp.h>", "libpopdist/backends/grpc/*"),
    ("agent/keeper/spawn.cpp", "<curl/curl.h>", "is in no table"),
    # pure code does no I/O
    ("controller/core/job.h", "<thread>", "controller/core is pure"),
    ("poprun/plan/explain.cpp", "<iostream>", "poprun/plan is pure"),
    ("agent/core/hooks.cpp", "<unistd.h>", "agent/core is pure"),
    ("common/model/placement.cpp", "<fstream>", "common/model is pure"),
    ("common/model/placement.cpp", "<sys/socket.h>", "common/model is pure"),
    # not written from the root; no row in the table
    ("common/base/text.cpp", '"text.h"', "from the repository's root"),
    ("telemetry/probe.cpp", "<vector>", "no row in MODULES"),
]

ALLOWED = [
    ("common/contract/frame.h", '"common/base/status.h"'),
    ("agent/topo/hwloc_topology.cpp", "<hwloc.h>"),
    ("agent/core/ports.h", '"common/ports/agent_port.h"'),
    ("agent/core/ports.h", "<sys/types.h>"),
    ("agent/core/agent_core.cpp", '"agent/core/agent_core.h"'),
    ("agent/keeper/keeper.cpp", "<sys/signalfd.h>"),
    ("agent/job/local_agent.h", '"agent/keeper/keeper.h"'),
    ("poprun/plan/explain.cpp", '"pod/system/pod_spec.h"'),
    ("controller/local/local_controller.cpp", '"agent/job/local_agent.h"'),
    ("poprun/session/job_session.cpp", '"poprun/ui/summary.h"'),
    ("agent/service/serve_options.cpp", "<CLI/CLI.hpp>"),
    ("common/os/helper_run.cpp", "<boost/asio/io_context.hpp>"),
    ("libpopdist/include/popdist/io.hpp", '"popdist/types.hpp"'),
    ("libpopdist/data/shard.cpp", '"libpopdist/data/tensor/spec.h"'),
    ("libpopdist/pod/plans/schedule_plans.h", '"pod/collectives/schedule.h"'),
    ("libpopdist/pod/device/device.cpp", '"pod/clock/clock.h"'),
    ("examples/fashion_mnist.cpp", "<popdist/io.hpp>"),
    ("examples/kernels/products.cpp", "<oneapi/dnnl/dnnl.hpp>"),
    ("examples/fashion_mnist/fashion_mnist.cpp", '"mlp.h"'),
    ("tests/unit/libpopdist/data/shard_test.cpp", '"libpopdist/data/shard.h"'),
    ("tests/unit/libpopdist/data/gzip_test.cpp", "<zlib.h>"),
    ("common/base/text.h", "<vector>"),
]


class CheckLayers(SampleTreeTest):
    def test_a_forbidden_include_is_named_with_file_line_and_what_is_allowed(self):
        for path, include, complaint in FORBIDDEN:
            with self.subTest(file=path, include=include):
                self.write(path, f"// top\n#include {include}\n")
                code, output = self.run_script("check_layers")
                (self.root / path).unlink()
                self.assertEqual(code, 1, output)
                self.assertIn(f"{path}:{1 if 'MODULES' in complaint else 2}: ", output)
                self.assertIn(complaint, output)
                self.assertIn("1 files, 1 forbidden includes", output)

    def test_includes_that_go_down_or_stay_are_accepted(self):
        for path, include in ALLOWED:
            with self.subTest(file=path, include=include):
                self.write(path, f"#include {include}\n")
                code, output = self.run_script("check_layers")
                self.assertEqual(code, 0, output)

    def test_a_commented_include_is_ignored(self):
        self.write("common/base/text.h", '// #include "agent/core/ports.h"\n')
        self.assertEqual(self.run_script("check_layers")[0], 0)

    def test_every_violation_is_reported_not_only_the_first(self):
        self.write("common/base/a.h", '#include "common/sys/fd.h"\n#include <zlib.h>\n')
        self.write("common/base/b.h", '#  include "common/os/epoll_loop.h"\n')
        self.assertIn("2 files, 3 forbidden includes", self.run_script("check_layers")[1])


if __name__ == "__main__":
    unittest.main()
