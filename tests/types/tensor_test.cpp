#include "types/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "types/small_floats.h"

namespace sardonyx {
namespace {

std::vector<int> bytes_of(const Tensor& tensor) {
    std::vector<int> result;
    for (std::byte byte : tensor.bytes()) {
        result.push_back(static_cast<int>(byte));
    }
    return result;
}

Tensor from_int64s(ElementType type, std::vector<int64_t> values) {
    Result<Tensor> tensor = tensor_from_int64s(type, {static_cast<int64_t>(values.size())}, values);
    EXPECT_TRUE(tensor.ok());
    return tensor.ok() ? *tensor : Tensor();
}

bool fits(ElementType type, double value) {
    return tensor_from_doubles(type, {}, std::span<const double>(&value, 1)).ok();
}
bool fits(ElementType type, int64_t value) {
    return tensor_from_int64s(type, {}, std::span<const int64_t>(&value, 1)).ok();
}

TEST(Tensor, Counts) {
    EXPECT_EQ(element_count(Dims{}), 1);
    EXPECT_EQ(element_count(Dims{2, 3}), 6);
    EXPECT_EQ(element_count(Dims{2, 0}), 0);
    EXPECT_EQ(element_count(Dims{INT64_MAX, 2, 0}), 0);
    EXPECT_EQ(element_count(Dims{INT64_MAX, 2}), std::nullopt);
    EXPECT_EQ(element_count(Dims{-1}), std::nullopt);
    EXPECT_EQ(element_count(Dims{0, -1}), std::nullopt);
    EXPECT_EQ(byte_size(ElementType::kFloat, 3), 12u);
    EXPECT_EQ(byte_size(ElementType::kInt4, 3), 2u);
    EXPECT_EQ(byte_size(ElementType::kUint2, 5), 2u);
    EXPECT_EQ(byte_size(ElementType::kFloat6E2M3, 4), 3u);
    EXPECT_EQ(byte_size(ElementType::kFloat6E2M3, 5), 4u);
    EXPECT_EQ(byte_size(ElementType::kComplex128, INT64_MAX), SIZE_MAX);
    EXPECT_EQ(byte_size(ElementType::kFloat6E3M2, INT64_MAX), (size_t{1} << 60) * 6);
}

TEST(Tensor, StorageIsAlignedAndShared) {
    Tensor tensor = Tensor::zeros(ElementType::kFloat, {2, 3});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes().data()) % 64, 0u);
    EXPECT_TRUE(tensor.is_unique());
    tensor.mutable_elements<float>()[4] = 2.5f;
    Tensor other = tensor.reshaped({6});
    EXPECT_FALSE(tensor.is_unique());
    EXPECT_EQ(other.elements<float>()[4], 2.5f);
    EXPECT_EQ(other.type().to_string(), "FLOAT[6]");
    EXPECT_FALSE(Tensor().is_valid());
    EXPECT_FALSE(Tensor().type().is_known());
}

TEST(Tensor, EmptyTensorsHaveAnAddress) {
    std::vector<Tensor> empty;
    empty.push_back(Tensor::zeros(ElementType::kFloat, {2, 0}));
    empty.push_back(Tensor::view_of(ElementType::kFloat, {0}, {}, nullptr));
    empty.push_back(empty.front().reshaped({0, 3}));
    for (Tensor& tensor : empty) {
        EXPECT_EQ(tensor.elements<float>().size(), 0u);
        EXPECT_NE(tensor.elements<float>().data(), nullptr);
    }
    EXPECT_NE(Tensor::of_strings({0}, {}).elements<std::string>().data(), nullptr);
}

TEST(Tensor, LargeStorageIsUsedAgainOnceItIsFree) {
    const int64_t n = int64_t{1} << 18;
    Tensor first = Tensor::uninitialized(ElementType::kFloat, {n});
    Tensor second = Tensor::uninitialized(ElementType::kFloat, {n});
    EXPECT_NE(first.bytes().data(), second.bytes().data());
    const std::byte* bytes = first.bytes().data();
    first = Tensor();
    Tensor small = Tensor::uninitialized(ElementType::kFloat, {n / 8});  // would waste most of it
    EXPECT_NE(small.bytes().data(), bytes);
    Tensor third = Tensor::uninitialized(ElementType::kFloat, {n - 5});
    EXPECT_EQ(third.bytes().data(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 64, 0U);
    for (int64_t size = 0; size < 400; ++size) {  // across the sizes that are kept otherwise
        Tensor tensor = Tensor::zeros(ElementType::kUint8, {size});
        EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes().data()) % 64, 0U);
    }
}

TEST(Tensor, ViewBorrowsAndCopiesWhatIsUnaligned) {
    auto storage = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
    std::span<const std::byte> bytes = std::as_bytes(std::span<const float>(*storage));
    Tensor view = Tensor::view_of(ElementType::kFloat, {3}, bytes, storage);
    EXPECT_EQ(view.bytes().data(), bytes.data());
    EXPECT_FALSE(view.is_unique());
    storage.reset();
    EXPECT_EQ(view.elements<float>()[2], 3);

    std::vector<std::byte> shifted(13);
    shifted[1] = std::byte{7};
    Tensor copy = Tensor::view_of(ElementType::kInt32, {3},
                                  std::span<const std::byte>(shifted).subspan(1), nullptr);
    EXPECT_EQ(copy.elements<int32_t>()[0], 7);
    EXPECT_TRUE(copy.is_unique());
}

TEST(Tensor, ViewOfBoolHoldsOnlyZeroAndOne) {
    static constexpr std::byte kBytes[] = {std::byte{0}, std::byte{1}, std::byte{200}};
    Tensor tensor = Tensor::view_of(ElementType::kBool, {3}, kBytes, nullptr);
    EXPECT_EQ(bytes_of(tensor), (std::vector<int>{0, 1, 1}));
}

TEST(Tensor, Strings) {
    Tensor tensor = Tensor::of_strings({2}, {"a", "b\n"});
    EXPECT_EQ(tensor.elements<std::string>()[1], "b\n");
    EXPECT_EQ(to_string(tensor), "STRING[2] {\"a\", \"b\\n\"}");
    EXPECT_EQ(Tensor::zeros(ElementType::kString, {3}).elements<std::string>()[2], "");
    EXPECT_FALSE(to_doubles(tensor).has_value());
    EXPECT_FALSE(to_int64s(tensor).has_value());
}

TEST(Tensor, PackedIntegers) {
    Tensor int4 = from_int64s(ElementType::kInt4, {1, -2, 7, -8, -1});
    EXPECT_EQ(bytes_of(int4), (std::vector<int>{0xe1, 0x87, 0x0f}));
    EXPECT_EQ(to_int64s(int4), (std::vector<int64_t>{1, -2, 7, -8, -1}));
    Tensor uint2 = from_int64s(ElementType::kUint2, {1, 2, 3, 0, 3});
    EXPECT_EQ(bytes_of(uint2), (std::vector<int>{0x39, 0x03}));
    EXPECT_EQ(to_int64s(uint2), (std::vector<int64_t>{1, 2, 3, 0, 3}));
    EXPECT_EQ(to_doubles(from_int64s(ElementType::kInt2, {-2, 1, -1})),
              (std::vector<double>{-2, 1, -1}));
}

TEST(Tensor, ReadsEveryWidth) {
    for (int number = 1; number < kElementTypeCount; ++number) {
        ElementType type = static_cast<ElementType>(number);
        Result<Tensor> tensor = tensor_from_int64s(type, {2}, std::vector<int64_t>{1, 1});
        bool is_real =
            element_class(type) != ElementClass::kComplex && type != ElementType::kString;
        ASSERT_EQ(tensor.ok(), is_real) << name(type);
        if (!is_real) {
            continue;
        }
        EXPECT_EQ(to_doubles(*tensor), (std::vector<double>{1, 1})) << name(type);
        EXPECT_EQ(to_int64s(*tensor).has_value(), !is_floating(type)) << name(type);
    }
}

TEST(Tensor, LimitsAndRanges) {
    Tensor tensor = Tensor::zeros(ElementType::kInt8, {10});
    EXPECT_FALSE(to_int64s(tensor, 9).has_value());
    EXPECT_FALSE(to_doubles(tensor, 9).has_value());
    EXPECT_FALSE(to_int64s(Tensor::scalar<uint64_t>(UINT64_MAX)).has_value());
    EXPECT_EQ(to_int64s(Tensor::scalar<uint64_t>(INT64_MAX))->front(), INT64_MAX);
}

TEST(Tensor, WhatATypeCannotHoldIsAnError) {
    EXPECT_TRUE(fits(ElementType::kInt8, int64_t{-128}));
    EXPECT_FALSE(fits(ElementType::kInt8, int64_t{128}));
    EXPECT_FALSE(fits(ElementType::kUint64, int64_t{-1}));
    EXPECT_TRUE(fits(ElementType::kInt64, INT64_MIN));
    EXPECT_TRUE(fits(ElementType::kUint4, int64_t{15}));
    EXPECT_FALSE(fits(ElementType::kUint4, int64_t{16}));
    EXPECT_FALSE(fits(ElementType::kInt2, int64_t{2}));
    EXPECT_FALSE(fits(ElementType::kInt32, 2.5));
    EXPECT_FALSE(fits(ElementType::kInt32, std::nan("")));
    EXPECT_FALSE(fits(ElementType::kInt64, 9223372036854775808.0));
    EXPECT_TRUE(fits(ElementType::kInt64, -9223372036854775808.0));
    EXPECT_TRUE(fits(ElementType::kUint64, 9223372036854775808.0));
    EXPECT_FALSE(fits(ElementType::kInt32, std::numeric_limits<double>::infinity()));
    EXPECT_TRUE(fits(ElementType::kFloat16, 1e9));
    EXPECT_TRUE(fits(ElementType::kBool, 0.5));
    Result<Tensor> wrong_count = tensor_from_doubles(ElementType::kFloat, {3}, {});
    ASSERT_FALSE(wrong_count.ok());
    EXPECT_EQ(wrong_count.error().message, "0 elements do not fill the dims [3]");
    double value = 300;
    Result<Tensor> range =
        tensor_from_doubles(ElementType::kUint8, {}, std::span<const double>(&value, 1));
    EXPECT_EQ(range.error().message, "UINT8 cannot hold 300");
}

TEST(Tensor, IntegersRoundOnce) {
    // 2^60 + 2^52 + 1 is just above the middle of two bfloat16; as a double it would be a tie.
    int64_t above = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;
    EXPECT_EQ(to_doubles(from_int64s(ElementType::kBfloat16, {above, above - 1, -above})),
              (std::vector<double>{0x1.02p60, 0x1p60, -0x1.02p60}));
    EXPECT_EQ(to_doubles(from_int64s(ElementType::kFloat, {(1 << 24) + 1, (1 << 24) + 3}))->back(),
              (1 << 24) + 4);
}

TEST(Tensor, Text) {
    EXPECT_EQ(to_string(Tensor::scalar(2.5f)), "FLOAT {2.5}");
    EXPECT_EQ(to_string(Tensor::scalar(0.1f)), "FLOAT {0.1}");
    EXPECT_EQ(to_string(Tensor::scalar(true)), "BOOL {True}");
    EXPECT_EQ(to_string(from_int64s(ElementType::kInt8, {1, -2, 3}), 2), "INT8[3] {1, -2, ...}");
    EXPECT_EQ(to_string(Tensor::zeros(ElementType::kFloat, {0})), "FLOAT[0] {}");
    EXPECT_EQ(to_string(Tensor::scalar(BFloat16(1.5f))), "BFLOAT16 {1.5}");
    EXPECT_EQ(to_string(from_int64s(ElementType::kFloat4E2M1, {1, -6, 100})),
              "FLOAT4E2M1[3] {1, -6, 6}");
    Tensor complex = Tensor::zeros(ElementType::kComplex64, {1});
    EXPECT_EQ(to_string(complex), "COMPLEX64[1] {0+0j}");
    EXPECT_EQ(to_string(Tensor()), "?");
}

}  // namespace
}  // namespace sardonyx
