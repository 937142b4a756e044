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

TEST_F(WeightsTest, StandBesideTheModel) {
    sardonyx::Builder b(20);
    std::vector<float> numbers(1000, 1.5F);
    Array w = Array::of<float>({1000}, std::span<const float>(numbers));
    b.output(b.input("x", "FLOAT[1000]") * b.initializer(w, "w"), "y");
    std::filesystem::path folder = path_ + ".folder";
    std::filesystem::create_directory(folder);
    std::string path = folder / "m.onnx";
    sardonyx::Model model = b.model();
    size_t told = 0;
    sardonyx::SaveOptions options;
    options.external_bytes = 100;
    options.progress = [&](size_t done, size_t all) { told = done * 100 / all; };
    model.save(path, options);
    EXPECT_EQ(told, 100u);
    auto files = [&] {
        return std::distance(std::filesystem::directory_iterator(folder),
                             std::filesystem::directory_iterator());
    };
    EXPECT_EQ(files(), 2);
    EXPECT_EQ(sardonyx::load_weights(path).at("w").bytes, w.bytes);
    // What is not changed stays as it is.
    std::filesystem::path other = folder / "other";
    std::filesystem::create_directory(other);
    sardonyx::Model::load(path).save(other / "m.onnx");
    EXPECT_EQ(sardonyx::load_weights(other / "m.onnx").at("w").bytes, w.bytes);
    EXPECT_TRUE(std::filesystem::file_size(other / "m.onnx") < 1000);
    options.external_bytes = 0;
    model.save(other / "m.onnx", options);
    EXPECT_TRUE(std::filesystem::file_size(other / "m.onnx") > 4000);
    options.alignment = 0;
    EXPECT_NE(complaint_of([&] { model.save(path, options); }).find("alignment"),
              std::string::npos);
    std::filesystem::remove_all(folder);
}

TEST_F(WeightsTest, FilesThatAreNone) {
    EXPECT_NE(complaint_of([&] { sardonyx::load_weights(path_); }).find(path_), std::string::npos);
    std::ofstream(path_) << "no model";
    EXPECT_NE(complaint_of([&] { sardonyx::load_weights(path_); }).find(path_), std::string::npos);
}

}  // namespace
