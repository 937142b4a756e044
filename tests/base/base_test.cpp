#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unordered_map>

#include "base/arena.h"
#include "base/content_hash.h"
#include "base/file.h"
#include "base/interner.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/pointer_map.h"
#include "base/quote.h"
#include "base/result.h"
#include "base/stop.h"
#include "base/symbol_map.h"
#include "base/utf8.h"
#include "base/write_file.h"

namespace sardonyx {
namespace {

std::string_view nearest_of(std::string_view word, std::vector<std::string_view> candidates) {
    return nearest(word, candidates);
}

TEST(Nearest, FindsSlipsOfTheHand) {
    EXPECT_EQ(nearest_of("Relo", {"Add", "Relu", "Selu"}), "Relu");
    EXPECT_EQ(nearest_of("MatMull", {"MatMul", "Mul"}), "MatMul");
    EXPECT_EQ(nearest_of("GELU", {"Celu", "Gelu"}), "Gelu");
    EXPECT_EQ(nearest_of("Sotfmax", {"Softmax", "Softplus"}), "Softmax");
    EXPECT_EQ(nearest_of("softmax", {"Softplus", "Softmax"}), "Softmax");
    EXPECT_EQ(nearest_of("axs", {"axes", "axis"}), "axes");  // a tie goes to the earlier
}

TEST(Nearest, FindsNothingFarAway) {
    EXPECT_EQ(nearest_of("Relu", {"Transpose", "Add"}), "");
    EXPECT_EQ(nearest_of("ab", {"cd"}), "");
    EXPECT_EQ(nearest_of("Add", {}), "");
    EXPECT_EQ(nearest_of("", {"x"}), "x");
    EXPECT_EQ(nearest_of("", {"xy"}), "");
    EXPECT_EQ(nearest_of(std::string(100'000, 'a'), {"aa"}), "");
}

TEST(Nearest, LetterCaseCountsHalf) {
    EXPECT_EQ(nearest_of("add", {"odd", "Add"}), "Add");
    EXPECT_EQ(nearest_of("gelu", {"GELU", "Gelu"}), "Gelu");
}

// A folder that goes with the test.
class File : public ::testing::Test {
  protected:
    File() {
        std::string pattern = (std::filesystem::temp_directory_path() / "sdx.XXXXXX").string();
        folder = ::mkdtemp(pattern.data());
    }
    ~File() override { std::filesystem::remove_all(folder); }

    size_t entries() const {
        size_t count = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) {
            ++count;
        }
        return count;
    }

    std::filesystem::path folder;
};

TEST_F(File, WritesAndReadsBack) {
    std::string path = folder / "a.bin";
    std::string bytes("one\0two", 7);
    ASSERT_TRUE(write_file(path, bytes).ok());
    EXPECT_EQ(*read_file(path, 100), bytes);
    Result<MappedFile> mapped = map_file(path);
    ASSERT_TRUE(mapped.ok());
    EXPECT_EQ(mapped->bytes.size(), 7u);
    EXPECT_EQ(static_cast<char>(mapped->bytes[4]), 't');
    ASSERT_TRUE(write_file(path, "").ok());
    EXPECT_EQ(map_file(path)->bytes.size(), 0u);
    EXPECT_EQ(entries(), 1u);
}

TEST_F(File, TheOldBytesStayMappedWhenReplaced) {
    std::string path = folder / "a.bin";
    ASSERT_TRUE(write_file(path, "old").ok());
    Result<MappedFile> mapped = map_file(path);
    ASSERT_TRUE(write_file(path, "new").ok());
    EXPECT_EQ(static_cast<char>(mapped->bytes[0]), 'o');
    EXPECT_EQ(*read_file(path, 100), "new");
}

// Parts of mapped files, with holes and without, of memory, and small ones between them: whatever
// way they go, the bytes and their hash are those of the parts, and holes take no room.
TEST_F(File, PartsOfMappedFilesAreCopied) {
    constexpr size_t kHole = size_t{1} << 24, kData = 3'000'001;
    std::string source = folder / "source";
    std::string data(kData, '\0');
    for (size_t i = 0; i < kData; ++i) {
        data[i] = static_cast<char>((i * i) >> 7U);
    }
    std::ofstream(source, std::ios::binary) << data << std::flush;
    std::filesystem::resize_file(source, kData + kHole);
    std::ofstream(source, std::ios::binary | std::ios::app) << data << std::flush;
    Result<MappedFile> mapped = map_file(source);
    ASSERT_TRUE(mapped.ok());
    std::string_view all(reinterpret_cast<const char*>(mapped->bytes.data()), mapped->bytes.size());
    std::string_view parts[] = {"small",
                                all.substr(1),
                                data,
                                "",
                                all.substr(7, 100'000),
                                "end",
                                all.substr(kData + 5, kHole)};
    std::string wanted;
    for (std::string_view part : parts) {
        wanted += part;
    }
    for (bool knows_source : {true, false}) {
        size_t told = 0;
        CopyOptions options;
        options.watch = [&](size_t size) { told += size; };
        if (knows_source) {
            options.sources.push_back(mapped->stamp);
        }
        NewFiles files(options);
        std::string whole = folder / "whole";
        ASSERT_TRUE(files.write(whole, parts).ok());
        Result<std::string> named = files.write_named(
            whole, parts, [&](uint64_t hash) { return folder / ("named" + std::to_string(hash)); });
        ASSERT_TRUE(named.ok());
        EXPECT_EQ(*named, folder / ("named" + std::to_string(content_hash(parts))));
        EXPECT_EQ(told, 2 * wanted.size());
        EXPECT_EQ(entries(), 1u);
        ASSERT_TRUE(files.put_in_place().ok());
        for (const std::string& path : {whole, *named}) {
            EXPECT_TRUE(*read_file(path, SIZE_MAX) == wanted);
            struct stat status {};
            struct stat of_source {};
            ASSERT_EQ(::stat(path.c_str(), &status), 0);
            ASSERT_EQ(::stat(source.c_str(), &of_source), 0);
            bool has_holes = of_source.st_blocks * 512 < static_cast<int64_t>(kHole);
            EXPECT_TRUE(!has_holes || !knows_source ||
                        status.st_blocks * 512 < static_cast<int64_t>(kHole));
            std::filesystem::remove(path);
        }
    }
}

TEST_F(File, RightsAreThoseOfTheUmask) {
    std::string path = folder / "a.bin";
    mode_t before = ::umask(0027);
    ASSERT_TRUE(write_file(path, "x").ok());
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(File, FailuresLeaveNothingBehind) {
    Result<void> missing = write_file(folder / "no" / "such" / "file", "x");
    ASSERT_FALSE(missing.ok());
    EXPECT_NE(missing.error().message.find("No such file or directory"), std::string::npos);
    // The target is a folder: the temporary file is written, and the rename fails.
    std::filesystem::create_directory(folder / "taken");
    ASSERT_FALSE(write_file(folder / "taken", "x").ok());
    EXPECT_EQ(entries(), 1u);
    EXPECT_TRUE(std::filesystem::is_directory(folder / "taken"));
}

// More files than a process may have open, and what another process has left of one of them.
TEST_F(File, ManyFilesBelongTogether) {
    constexpr size_t kFiles = 300;
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit few{200, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    auto path_of = [&](size_t i) { return folder / std::to_string(i); };
    {
        NewFiles files;
        for (size_t i = 0; i < kFiles; ++i) {
            std::string bytes = std::to_string(i);
            std::string_view parts[] = {bytes};
            ASSERT_TRUE(files.write(path_of(i), parts).ok());
        }
    }
    EXPECT_EQ(entries(), 0u);  // nothing was put in its place
    NewFiles files;
    for (size_t i = 0; i < kFiles; ++i) {
        std::string bytes = std::to_string(i);
        std::string_view parts[] = {bytes};
        ASSERT_TRUE(files.write(path_of(i), parts).ok());
    }
    ASSERT_TRUE(files.put_in_place().ok());
    ASSERT_TRUE(files.put(path_of(kFiles), "300").ok());
    EXPECT_EQ(entries(), kFiles + 1);
    for (size_t i = 0; i <= kFiles; ++i) {
        EXPECT_EQ(*read_file(path_of(i), 10), std::to_string(i));
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

// Files that belong together get their names while nobody else gives names there.
TEST_F(File, FilesOfTwoWritersDoNotMix) {
    int locked = ::open((folder / "").c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(::flock(locked, LOCK_EX), 0);
    NewFiles files;
    std::string_view part = "text";
    for (const char* name : {"a", "b"}) {
        ASSERT_TRUE(files.write(folder / name, {&part, 1}).ok());
    }
    std::thread writer([&] { EXPECT_TRUE(files.put_in_place().ok()); });
    ASSERT_TRUE(write_file(folder / "c", "one alone does not wait").ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
    ::close(locked);
    writer.join();
    EXPECT_TRUE(std::filesystem::exists(folder / "a") && std::filesystem::exists(folder / "b"));
}

TEST_F(File, ReadingSaysWhatIsWrong) {
    std::string path = folder / "a.txt";
    EXPECT_EQ(read_file(path, 10).error().message,
              "cannot open `" + path + "`: No such file or directory");
    EXPECT_FALSE(map_file(path).ok());
    EXPECT_FALSE(read_file(folder, 10).ok());
    EXPECT_FALSE(map_file(folder).ok());
    ASSERT_TRUE(write_file(path, "12345678901").ok());
    EXPECT_EQ(read_file(path, 10).error().message, "`" + path + "` is larger than 10 bytes");
    EXPECT_EQ(read_file(path, 11)->size(), 11u);
}

TEST_F(File, PipesAreReadToTheEnd) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "abc", 3), 3);
    ::close(ends[1]);
    Result<MappedFile> mapped = map_file("/dev/fd/" + std::to_string(ends[0]));
    ::close(ends[0]);
    ASSERT_TRUE(mapped.ok());
    EXPECT_EQ(mapped->bytes.size(), 3u);
}

TEST(Arena, AlignsAndKeeps) {
    Arena arena;
    std::vector<std::string_view> texts;
    for (int i = 0; i < 20'000; ++i) {
        texts.push_back(arena.copy_text("text " + std::to_string(i)));
        double* number = arena.make<double>(1.0 * i);
        ASSERT_EQ(reinterpret_cast<uintptr_t>(number) % alignof(double), 0u);
        ASSERT_EQ(*number, i);
    }
    EXPECT_EQ(texts[0], "text 0");
    EXPECT_EQ(texts[19'999], "text 19999");
}

TEST(Arena, TakesWhatIsLargerThanABlock) {
    Arena arena;
    std::vector<int> numbers(1 << 20, 7);
    std::span<int> copy = arena.copy(numbers);
    EXPECT_EQ(copy.size(), numbers.size());
    EXPECT_EQ(copy.back(), 7);
    void* aligned = arena.allocate(100, 256);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned) % 256, 0u);
    EXPECT_TRUE(arena.copy(std::vector<int>()).empty());
    EXPECT_EQ(arena.copy_text("").size(), 0u);
    Arena moved = std::move(arena);
    EXPECT_EQ(copy.front(), 7);
}

TEST(Interner, OneIdPerText) {
    Interner interner;
    std::string text = "alpha";
    Symbol alpha = interner.intern(text);
    text = "omega";
    Symbol omega = interner.intern(text);
    EXPECT_EQ(alpha.index, 0u);
    EXPECT_EQ(omega.index, 1u);
    EXPECT_EQ(interner.intern("alpha"), alpha);
    EXPECT_EQ(interner.text(alpha), "alpha");
    EXPECT_EQ(interner.size(), 2u);
    EXPECT_EQ(interner.text(interner.intern("")), "");
    EXPECT_EQ(interner.text(interner.intern(std::string_view("a\0b", 3))).size(), 3u);
    EXPECT_FALSE(Symbol().valid());
}

TEST(Interner, KeepsEveryIdWhileItGrows) {
    Interner interner;
    for (int round = 0; round < 2; ++round) {
        for (uint32_t i = 0; i < 50'000; ++i) {
            std::string text = "name_" + std::to_string(i);
            Symbol symbol = interner.intern(text);
            ASSERT_EQ(symbol.index, i);
            ASSERT_EQ(interner.text(symbol), text);
        }
    }
    EXPECT_EQ(interner.size(), 50'000u);
}

// Against the standard's table, with keys that lie close and far apart.
// As a map of symbols below `end`.
void check_symbol_map(uint32_t end) {
    SymbolMap<int> map;
    std::unordered_map<uint32_t, int> expected;
    uint32_t state = 1;
    for (int step = 0; step < 20'000; ++step) {
        state = state * 1664525U + 1013904223U;
        Symbol symbol{((state >> 20) % 3 == 0 ? state >> 26 : (state >> 24) * 4096) % end};
        if ((state >> 10) % 3 == 0) {
            map.erase(symbol);
            expected.erase(symbol.index);
        } else {
            auto [value, is_new] = map.try_emplace(symbol);
            ASSERT_EQ(is_new, expected.count(symbol.index) == 0);
            *value = step;
            expected[symbol.index] = step;
        }
        ASSERT_EQ(map.size(), expected.size());
    }
    for (const auto& [symbol, value] : map) {
        ASSERT_EQ(expected.at(symbol.index), value);
    }
    for (const auto& [index, value] : expected) {
        ASSERT_EQ(*map.find(Symbol{index}), value);
    }
    EXPECT_EQ(map.find(Symbol{7777777}), nullptr);
    map.clear();
    EXPECT_TRUE(map.empty());
    EXPECT_FALSE(map.contains(Symbol{0}));
    map[Symbol{3}] = 1;
    EXPECT_EQ(map.begin()->symbol, Symbol{3});
}

TEST(SymbolMap, IsAMap) {
    check_symbol_map(7);  // few, which are looked for one by one
    check_symbol_map(11);
    check_symbol_map(1U << 24);
}

TEST(PointerMap, IsAMapWhoseValuesStay) {
    std::vector<int> keys(5000);
    PointerMap<int, int> map;
    std::vector<int*> values;
    for (size_t i = 0; i < keys.size(); ++i) {
        auto [value, is_new] = map.try_emplace(&keys[i]);
        ASSERT_TRUE(is_new);
        EXPECT_EQ(*value, 0);
        *value = static_cast<int>(i);
        values.push_back(value);
    }
    for (size_t i = 0; i < keys.size(); ++i) {
        auto [value, is_new] = map.try_emplace(&keys[i]);
        ASSERT_FALSE(is_new);
        ASSERT_EQ(value, values[i]);
    }
    int next = 0;
    for (int value : map) {
        ASSERT_EQ(value, next++);
    }
    EXPECT_EQ(next, 5000);
}

TEST(SymbolMap, KeepsTheOrderOfInsertion) {
    SymbolMap<int> map;
    for (uint32_t i = 1000; i-- > 0;) {
        map[Symbol{i}] = 0;
    }
    uint32_t next = 1000;
    for (const auto& [symbol, value] : map) {
        ASSERT_EQ(symbol.index, --next);
    }
}

// Each erasure looked at all that follow: 200,000 of them took a minute.
TEST(SymbolMap, DenseSymbolsAreErasedInLinearTime) {
    constexpr uint32_t kCount = 200'000;
    SymbolMap<int> map;
    for (uint32_t i = 0; i < kCount; ++i) {
        map[Symbol{i}] = 0;
    }
    auto begin = std::chrono::steady_clock::now();
    for (uint32_t i = 0; i < kCount; ++i) {
        map.erase(Symbol{i});
    }
    EXPECT_TRUE(map.empty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(Stop, EndsTheWorkOfItsScope) {
    int asked = 0;
    auto after_three = [](void* data) { return ++*static_cast<int*>(data) > 3; };
    stop_point();  // nobody is asked
    EXPECT_FALSE(should_stop());
    int done = 0;
    try {
        StopScope scope(after_three, &asked);
        {
            StopScope inner([](void*) { return false; }, nullptr);
            stop_point();
        }
        for (;; ++done) {
            stop_point();
        }
    } catch (const Stopped&) {
        EXPECT_EQ(done, 3);
    }
    EXPECT_EQ(asked, 4);
    stop_point();
}

TEST(Utf8, WellFormed) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("only ascii, longer than eight"));
    EXPECT_TRUE(is_utf8("größe 寸 🜂 \xf4\x8f\xbf\xbf"));
    for (std::string_view bad : {"12345678\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x9c", "\xc1\x80",
                                 "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
        EXPECT_FALSE(is_utf8(bad)) << bad.size();
    }
}

TEST(Quote, EscapesWhatDoesNotPrint) {
    EXPECT_EQ(quoted("plain"), "\"plain\"");
    EXPECT_EQ(quoted("a\"b\\c"), R"("a\"b\\c")");
    EXPECT_EQ(quoted("\n\t\r\x01\x7f"), R"("\n\t\r\x01\x7f")");
    EXPECT_EQ(quoted("größe 寸 🜂"), "\"größe 寸 🜂\"");
    // Cut short, overlong, surrogate, beyond the last code point, stray continuation.
    EXPECT_EQ(quoted("\xc3"), R"("\xc3")");
    EXPECT_EQ(quoted("\xc0\xaf"), R"("\xc0\xaf")");
    EXPECT_EQ(quoted("\xed\xa0\x80"), R"("\xed\xa0\x80")");
    EXPECT_EQ(quoted("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");
    EXPECT_EQ(quoted("\x80"), R"("\x80")");
}

TEST(Json, StringsSayWhatTheyAreFor) {
    EXPECT_EQ(json_string("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
    EXPECT_EQ(json_string("é\x80<&>"), "\"é\xef\xbf\xbd<&>\"");
    EXPECT_EQ(json_string("é\x80<&>", JsonText::kInPage), "\"é\xef\xbf\xbd\\u003c\\u0026\\u003e\"");
    EXPECT_EQ(json_string("é\x80<&>", JsonText::kExact), "\"é\x80<&>\"");
}

Result<int> half(int number) {
    if (number % 2 != 0) {
        return Error{"odd"};
    }
    return number / 2;
}

Result<void> needs_even(int number) {
    SDX_TRY(half(number));
    return {};
}

TEST(Result, CarriesTheError) {
    EXPECT_EQ(*half(4), 2);
    EXPECT_EQ(half(3).error().message, "odd");
    EXPECT_TRUE(needs_even(2).ok());
    EXPECT_EQ(needs_even(3).error().message, "odd");
}

}  // namespace
}  // namespace sardonyx
