// Tensors by name, from files.
#include <gtest/gtest.h>
#include <sardonyx/sardonyx.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "complaint.h"

namespace {

using sardonyx::Array;

class WeightsTest : public testing::Test {
  protected:
    WeightsTest()
        : path_((std::filesystem::temp_directory_path() /
                 ("sardonyx_weights_" + std::to_string(std::random_device()()) + ".onnx"))
                    .string()) {}
    ~WeightsTest() override { std::filesystem::remove(path_); }
    const std::string path_;
};

TEST_F(WeightsTest, AreTheInitializersOfAModel) {
    sardonyx::Builder b(20);
    Array w = Array::of<float>({2, 2}, {1, 2, 3, 4});
    Array s = Array::of<int64_t>({1}, {-1});
    b.output(b.input("x", "FLOAT[2, 2]") * b.initializer(w, "w"), "y");
    b.output(b.initializer(s, "s"), "z");
    b.model().save(path_);
    std::map<std::string, Array, std::less<>> weights = sardonyx::load_weights(path_);
    ASSERT_EQ(weights.size(), 2u);
    EXPECT_EQ(weights.at("w").dims, w.dims);
    EXPECT_EQ(weights.at("w").bytes, w.bytes);
    EXPECT_EQ(weights.at("s").bytes, s.bytes);
}

TEST_F(WeightsTest, FilesThatAreNone) {
    EXPECT_NE(complaint_of([&] { sardonyx::load_weights(path_); }).find(path_), std::string::npos);
    std::ofstream(path_) << "no model";
    EXPECT_NE(complaint_of([&] { sardonyx::load_weights(path_); }).find(path_), std::string::npos);
}

}  // namespace
