#include "models/runtimes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "models/runtime_kernels.h"
#include "proto/proto.h"

namespace sardonyx::models {
namespace {

// What a release takes at most; before the first, nothing is promised. The rows follow the table
// of versions in ONNX Runtime's documentation and the onnx releases that they are built with.
struct Release {
    Runtime runtime;
    RuntimeLimits limits;
};

constexpr Release kReleases[] = {
    {{0, 1}, {8, 1, 3}},    {{0, 3}, {9, 1, 3}},    {{0, 4}, {10, 1, 5}},   {{1, 0}, {11, 2, 6}},
    {{1, 3}, {12, 2, 7}},   {{1, 6}, {13, 2, 7}},   {{1, 8}, {14, 2, 7}},   {{1, 10}, {15, 2, 8}},
    {{1, 11}, {16, 2, 8}},  {{1, 12}, {17, 3, 8}},  {{1, 14}, {18, 3, 8}},  {{1, 15}, {19, 3, 9}},
    {{1, 17}, {20, 4, 9}},  {{1, 18}, {21, 4, 10}}, {{1, 21}, {22, 5, 10}}, {{1, 23}, {23, 5, 11}},
    {{1, 24}, {25, 5, 13}}, {{1, 31}, {26, 5, 13}},
};

// Reads a number from the beginning of the text, which loses it; nothing: there is none.
std::optional<int> take_number(std::string_view& text) {
    int number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return number;
}

// The numbers of "1.20.1".
std::optional<Runtime> read_version(std::string_view text) {
    std::optional<int> major = take_number(text);
    if (!major || text.substr(0, 1) != ".") {
        return std::nullopt;
    }
    text.remove_prefix(1);
    std::optional<int> minor = take_number(text);
    if (minor && text.substr(0, 1) == ".") {
        text.remove_prefix(1);
        if (!take_number(text)) {
            return std::nullopt;
        }
    }
    return minor && text.empty() ? std::optional(Runtime{*major, *minor}) : std::nullopt;
}

}  // namespace

std::string needed_runtime(const ir::Model& model) {
    int64_t ir = proto::needed_ir_version(model);
    for (const auto& [runtime, limits] : kReleases) {
        bool takes = ir <= limits.ir && model.opset_version("") <= limits.standard &&
                     model.opset_version("ai.onnx.ml") <= limits.ml;
        for (const ir::Function* function : model.functions) {
            takes = takes && ir::opset_version(function->opset_imports, "") <= limits.standard &&
                    ir::opset_version(function->opset_imports, "ai.onnx.ml") <= limits.ml;
        }
        if (takes) {
            return fmt::format("{}.{}", runtime.major, runtime.minor);
        }
    }
    return {};
}

Result<Runtime> read_runtime(std::string_view text) {
    constexpr std::string_view kName = "onnxruntime-";
    std::optional<Runtime> runtime;
    if (text.substr(0, kName.size()) == kName) {
        runtime = read_version(text.substr(kName.size()));
    }
    if (!runtime) {
        return Error{fmt::format("`{}` is not a target; write it as `onnxruntime-1.20`", text)};
    }
    if (Runtime oldest = oldest_measured(); *runtime < oldest) {
        return Error{
            fmt::format("the kernels of {} are not known; the oldest target is "
                        "`onnxruntime-{}.{}`",
                        words_of(*runtime), oldest.major, oldest.minor)};
    }
    return *runtime;
}

std::string words_of(Runtime runtime) {
    return fmt::format("ONNX Runtime {}.{}", runtime.major, runtime.minor);
}

RuntimeLimits limits_of(Runtime runtime) {
    RuntimeLimits limits;
    for (const Release& release : kReleases) {
        if (release.runtime <= runtime) {
            limits = release.limits;
        }
    }
    return limits;
}

Result<int64_t> opset_for(Runtime runtime, std::optional<int64_t> wanted, int64_t usual) {
    int64_t newest = limits_of(runtime).standard;
    if (wanted && *wanted > newest) {
        return Error{fmt::format("{} does not take opset {}; its newest is {}", words_of(runtime),
                                 *wanted, newest)};
    }
    return wanted.value_or(std::min(usual, newest));
}

}  // namespace sardonyx::models
