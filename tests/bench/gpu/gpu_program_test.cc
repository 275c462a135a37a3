#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/gpu/program.h"
#include "kernels/cuda/all_kernels.h"
#include "kernels/cuda/simulated_device.h"
#include "tests/bench/gpu/spoiling_device.h"

// kvbench_gpu from its command line to its file, on the simulator.
namespace kvbench::gpu {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A simulator whose kernel of one name is wrong.
class Spoiled final : public ForwardingDevice {
 public:
  explicit Spoiled(const std::string& kernel)
      : Spoiled(std::make_unique<SimulatedDevice>(), kernel) {}

  void Launch(const Kernel& kernel, const LaunchShape& shape, const void* params) override {
    spoiling_->Launch(kernel, shape, params);
  }

 private:
  Spoiled(std::unique_ptr<SimulatedDevice> device, const std::string& kernel)
      : ForwardingDevice(*device),
        device_(std::move(device)),
        spoiling_(std::make_unique<SpoilingDevice>(*device_, kernel)) {}

  std::unique_ptr<SimulatedDevice> device_;
  std::unique_ptr<SpoilingDevice> spoiling_;
};

class GpuProgram : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("gpu_") + std::to_string(getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    file_ = (folder_ / "out.json").string();
    machine_ = {.open = [] { return std::make_unique<SimulatedDevice>(); },
                .kernels = SimulatorKernels,
                .clocks = {}};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  int Run(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv = {"kvbench_gpu"};
    for (const std::string& argument : arguments) {
      argv.push_back(argument.c_str());
    }
    std::ostringstream out;
    std::ostringstream err;
    const int code = RunProgram(static_cast<int>(argv.size()), argv.data(), machine_, out, err);
    out_ = out.str();
    err_ = err.str();
    return code;
  }
  /// What the program has written, valid against results/schema/gpu.schema.json where there is a
  /// Python that can say so.
  json File() const {
    if (!std::string(KVBENCH_PYTHON).empty()) {
      const std::string command =
          std::string(KVBENCH_PYTHON) +
          " -c 'import json, jsonschema, sys; schema, value = (json.load(open(p)) for p in "
          "sys.argv[1:]); jsonschema.Draft202012Validator(schema).validate(value)' '" +
          KVBENCH_SOURCE_DIR "/results/schema/gpu.schema.json' '" + file_ + "'";
      EXPECT_EQ(std::system(command.c_str()), 0) << file_;
    }
    return json::parse(std::ifstream(file_));
  }

  std::filesystem::path folder_;
  std::string file_;
  Machine machine_;
  std::string out_;
  std::string err_;
};

void ExpectNoNull(const json& value, const std::string& path) {
  if (value.is_structured()) {
    for (const auto& [key, member] : value.items()) {
      ExpectNoNull(member, path + "/" + key);
    }
  } else {
    EXPECT_FALSE(value.is_null()) << path;
  }
}

TEST_F(GpuProgram, EveryKernelConforms) {
  EXPECT_EQ(Run({"conformance", "--small", "--json", file_}), 0) << out_;
  const json file = File();
  EXPECT_EQ(file["what"], "conformance");
  EXPECT_EQ(file["run_info"]["complete"], true);
  EXPECT_EQ(file["conformance"]["passed"], true);
  EXPECT_EQ(file["conformance"]["checks"], file["conformance"]["planned"]);
  // A kernel that is new in the table needs a check of its own in kernels/checks.
  EXPECT_EQ(file["conformance"]["unchecked_kernels"], json::array());
  EXPECT_EQ(file["conformance"]["kernels"].size(), SimulatorKernels().all().size());
}

TEST_F(GpuProgram, AWrongKernelIsFoundAndNamed) {
  const std::string wrong = "decode-cores/fp16/d128/paged/heads2/stages2";
  machine_.open = [&] { return std::make_unique<Spoiled>(wrong); };
  EXPECT_EQ(Run({"conformance", "--small", "--json", file_}), 1);
  EXPECT_THAT(out_, HasSubstr("WRONG: "));
  EXPECT_THAT(out_, HasSubstr(wrong));
  const json file = File();  // lives as long as what is looked at
  for (const json& kernel : file["conformance"]["kernels"]) {
    if (kernel["name"] == wrong) {
      EXPECT_EQ(kernel["failed"], kernel["checks"]);
    } else if (kernel["name"] != "attention-merge") {
      EXPECT_EQ(kernel["failed"], 0) << kernel["name"];
    }
  }
}

TEST_F(GpuProgram, DecodeMeasuresVerifiesAndWrites) {
  ASSERT_EQ(Run({"decode", "--small", "--json", file_}), 0) << err_;
  const json file = File();
  EXPECT_EQ(file["schema_version"], "1.0");
  EXPECT_EQ(file["run_info"]["complete"], true);
  EXPECT_THAT(file["run_info"]["command"], HasSubstr("decode --small"));
  EXPECT_EQ(file["device"]["name"], "simulator");
  ASSERT_EQ(file["cells"].size(), 12u);
  for (const json& cell : file["cells"]) {
    const std::string name = cell["name"];
    EXPECT_TRUE(cell["skipped"].is_null());
    EXPECT_EQ(cell["seconds"]["samples"].size(), 2u);
    ExpectNoNull(cell["seconds"], name);
    ExpectNoNull(cell["roof_seconds"], name);
    ExpectNoNull(cell["plan_seconds"], name);
    // A second passes between two events of the simulator.
    EXPECT_EQ(cell["achieved_bytes_per_s"], cell["kv_bytes"]);
    EXPECT_EQ(cell["roof_bytes_per_s"], 16 << 10);
    EXPECT_EQ(cell["verification"]["passed"], true) << name;
    EXPECT_LT(cell["verification"]["max_relative_error"], 2e-3) << name;
    EXPECT_THAT(err_, HasSubstr(name + ": "));
    EXPECT_THAT(out_, HasSubstr(name));
  }
}

TEST_F(GpuProgram, DecodeSeesAWrongKernel) {
  machine_.open = [] {
    return std::make_unique<Spoiled>("attention-mma/fp16/d128/contiguous/rows16");
  };
  EXPECT_EQ(Run({"decode", "--small", "--json", file_}), 1);
  EXPECT_THAT(out_, HasSubstr("WRONG"));
  int wrong = 0;
  const json file = File();  // lives as long as what is looked at
  for (const json& cell : file["cells"]) {
    wrong += cell["verification"]["passed"] == false ? 1 : 0;
  }
  EXPECT_EQ(wrong, 2);
}

TEST_F(GpuProgram, ABudgetLeavesAReadableFile) {
  EXPECT_EQ(Run({"decode", "--small", "--budget", "0.000001", "--json", file_}), 0);
  EXPECT_THAT(err_, HasSubstr("The time budget is used up"));
  EXPECT_EQ(File()["run_info"]["complete"], false);
  EXPECT_LT(File()["cells"].size(), 12u);
  EXPECT_EQ(Run({"conformance", "--small", "--budget", "0.000001", "--json", file_}), 0);
  EXPECT_EQ(File()["run_info"]["complete"], false);
}

TEST_F(GpuProgram, CellsThatDoNotFitAreSkipped) {
  machine_.open = [] { return std::make_unique<SimulatedDevice>(SimulatorOptions{}, 150 << 10); };
  ASSERT_EQ(Run({"decode", "--small", "--json", file_}), 0) << err_;
  int skipped = 0;
  const json file = File();  // lives as long as what is looked at
  for (const json& cell : file["cells"]) {
    skipped += cell["skipped"].is_null() ? 0 : 1;
  }
  EXPECT_GT(skipped, 0);
  EXPECT_LT(skipped, 12);
  EXPECT_THAT(out_, HasSubstr("their KV does not fit the device"));
}

TEST_F(GpuProgram, NoRoomAtAllIsASentence) {
  machine_.open = [] { return std::make_unique<SimulatedDevice>(SimulatorOptions{}, 1 << 10); };
  EXPECT_EQ(Run({"decode", "--small"}), 3);
  EXPECT_THAT(err_, HasSubstr("the device has "));
}

TEST_F(GpuProgram, Fig18a) {
  ASSERT_EQ(Run({"vllm-v1", "--small", "--repetitions", "1", "--json", file_}), 0) << err_;
  const json cells = File()["cells"];
  ASSERT_EQ(cells.size(), 8u);
  EXPECT_EQ(cells[1]["kernel"], "vllm_v1/fp16/128");
  EXPECT_EQ(cells[1]["seconds"]["samples"].size(), 1u);
  EXPECT_THAT(std::string(cells[3]["kernel"]), HasSubstr("decode-cores/"));
  for (const json& cell : cells) {
    EXPECT_EQ(cell["verification"]["passed"], true) << cell["name"];
  }
  EXPECT_THAT(out_, HasSubstr("v1 paged/v1"));
}

TEST_F(GpuProgram, BadArgumentsAndNoGpu) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Run({"encode"}), 2);
  EXPECT_EQ(Run({"decode", "--tier", "4"}), 2);
  EXPECT_EQ(Run({"decode", "--budget", "-1"}), 2);
  EXPECT_EQ(Run({"decode", "--small", "--json", "/nowhere/out.json"}), 2);
  EXPECT_EQ(Run({"--help"}), 0);
  machine_.open = []() -> std::unique_ptr<Device> {
    throw Error("this machine has no GPU", Error::Kind::kMachine);
  };
  EXPECT_EQ(Run({"decode", "--small"}), 3);
  EXPECT_EQ(err_, "kvbench_gpu: this machine has no GPU\n");
}

}  // namespace
}  // namespace kvbench::gpu
