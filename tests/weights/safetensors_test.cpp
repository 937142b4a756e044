// Files of tensors, by their bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "weights/weights.h"

namespace sardonyx::weights {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

// A header of this text with its length in front, and bytes behind it.
Result<NamedTensors> read(const std::string& header, const std::string& data,
                          uint64_t length = UINT64_MAX) {
    uint64_t size = length == UINT64_MAX ? header.size() : length;
    std::string text(8, '\0');
    for (size_t i = 0; i < 8; ++i) {
        text[i] = static_cast<char>(size >> (8 * i) & 0xff);
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(bytes_of(text + header + data));
    return read_safetensors(*bytes, bytes);
}

TEST(Safetensors, ReadsWhatItWrites) {
    NamedTensors tensors = {
        {"a", Tensor::of<float>({2}, std::vector<float>{1.5f, -2})},
        {"b", Tensor::of<int64_t>({1, 1}, std::vector<int64_t>{7})},
    };
    Result<std::string> header = safetensors_header(tensors);
    ASSERT_TRUE(header.ok());
    std::string text = *header;
    for (const auto& [name, tensor] : tensors) {
        std::span<const std::byte> own = tensor.bytes();
        text.append(reinterpret_cast<const char*>(own.data()), own.size());
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(bytes_of(text));
    Result<NamedTensors> got = read_safetensors(*bytes, bytes);
    ASSERT_TRUE(got.ok()) << got.error().message;
    ASSERT_EQ(got->size(), 2U);
    EXPECT_EQ((*got)[0].first, "a");
    EXPECT_EQ(to_string((*got)[0].second), "FLOAT[2] {1.5, -2}");
    EXPECT_EQ(to_string((*got)[1].second), "INT64[1, 1] {7}");
}

TEST(Safetensors, RefusesPlacesOutsideOfTheFile) {
    const char* header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    EXPECT_TRUE(read(header, std::string(8, '\0')).ok());
    EXPECT_FALSE(read(header, std::string(7, '\0')).ok());
    EXPECT_FALSE(read(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "").ok());
    EXPECT_FALSE(
        read(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", std::string(8, '\0'))
            .ok());
    EXPECT_FALSE(read(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],)"
                      R"("data_offsets":[0,0]}})",
                      "")
                     .ok());
}

TEST(Safetensors, RefusesHeadersThatAreNone) {
    EXPECT_FALSE(read("{", "").ok());
    EXPECT_FALSE(read("[]", "").ok());
    EXPECT_FALSE(read("{}", "", uint64_t{1} << 62).ok());
    EXPECT_FALSE(read(R"({"a":{"dtype":"F99","shape":[],"data_offsets":[0,0]}})", "").ok());
    EXPECT_FALSE(read_safetensors({}, nullptr).ok());
}

TEST(Npz, RefusesWhatIsNoArchive) {
    std::vector<std::byte> bytes = bytes_of("PK\x03\x04 and nothing else");
    EXPECT_FALSE(read_npz(bytes, nullptr).ok());
    EXPECT_FALSE(read_npz({}, nullptr).ok());
}

TEST(Weights, TheErrorNamesTheFile) {
    Result<NamedTensors> got = read_weights("no/such.safetensors");
    ASSERT_FALSE(got.ok());
    EXPECT_NE(got.error().message.find("no/such.safetensors"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx::weights
