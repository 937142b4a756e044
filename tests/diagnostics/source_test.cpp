// The texts of files, which compilations on several threads share.
#include "diagnostics/source.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace sardonyx::diagnostics {
namespace {

TEST(Sources, AreUsedByManyThreadsAtOnce) {
    constexpr int kThreads = 8, kFiles = 200;
    Sources sources;
    FileId shared = sources.add("shared.py", "a\nbb\nccc\n");
    std::atomic<int> wrong = 0;
    auto work = [&](int thread) {
        for (int i = 0; i < kFiles; ++i) {
            std::string path = std::to_string(thread) + "/" + std::to_string(i);
            FileId own = sources.add(path, path + "\n" + path);
            bool is_right = sources.path(own) == path && sources.line(own, 2) == path &&
                            sources.text(shared).size() == 9 && sources.line(shared, 3) == "ccc" &&
                            sources.position(shared, 6).line == 3;
            wrong += is_right ? 0 : 1;
        }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back(work, thread);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(sources.size(), 1 + kThreads * kFiles);
}

}  // namespace
}  // namespace sardonyx::diagnostics
