// RegexFullMatch, StringNormalizer and StringSplit.
#include <algorithm>
#include <span>
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "eval/kernels/regex/characters.h"
#include "eval/kernels/regex/regex.h"
#include "eval/operators/kernel.h"
#include "eval/runtime/parallel.h"

namespace sardonyx::eval::kernels {
namespace {

enum class CaseChange : uint8_t { kNone, kLower, kUpper };

Result<CaseChange> case_change(const KernelContext& c) {
    std::string_view action = c.string_attribute("case_change_action");
    if (action == "LOWER") {
        return CaseChange::kLower;
    }
    if (action == "UPPER") {
        return CaseChange::kUpper;
    }
    if (action == "NONE") {
        return CaseChange::kNone;
    }
    return Error{fmt::format("case_change_action `{}` is not known", action)};
}

using Pieces = std::vector<std::string_view>;

// Texts of usual lengths; some milliseconds.
constexpr int64_t kTextsPerTask = 1 << 12;

constexpr std::string_view kSpaces = " \t\n\v\f\r";

Pieces split_at_spaces(std::string_view text, uint64_t max_splits) {
    Pieces pieces;
    size_t last = text.find_last_not_of(kSpaces);
    text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    for (size_t at = text.find_first_not_of(kSpaces); at != std::string_view::npos;
         at = text.find_first_not_of(kSpaces, at)) {
        size_t end = text.find_first_of(kSpaces, at);
        if (max_splits-- == 0 || end == std::string_view::npos) {
            pieces.push_back(text.substr(at));
            break;
        }
        pieces.push_back(text.substr(at, end - at));
        at = end;
    }
    return pieces;
}

Pieces split_at(std::string_view text, std::string_view delimiter, uint64_t max_splits) {
    Pieces pieces;
    for (size_t at = 0;;) {
        size_t end = text.find(delimiter, at);
        if (max_splits-- == 0 || end == std::string_view::npos) {
            pieces.push_back(text.substr(at));
            return pieces;
        }
        pieces.push_back(text.substr(at, end - at));
        at = end + delimiter.size();
    }
}

}  // namespace

// https://onnx.ai/onnx/operators/onnx__RegexFullMatch.html
Status regex_full_match(KernelContext& c) {
    if (!c.has_attribute("pattern")) {
        return Error{"attribute `pattern` is missing"};
    }
    SDX_ASSIGN(Regex regex, Regex::compile(c.string_attribute("pattern")));
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kBool, c.dims(0)));
    bool* result = out->mutable_elements<bool>().data();
    const std::string* texts = c.tensor(0).elements<std::string>().data();
    parallel_for(c.threads(), out->count(), kTextsPerTask, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            result[i] = regex.matches(texts[i]);
        }
    });
    return {};
}

// https://onnx.ai/onnx/operators/onnx__StringNormalizer.html: whole elements are the stop words,
// as in ONNX Runtime. The locale has no influence: letters change case by Unicode's rules.
Status string_normalizer(KernelContext& c) {
    const Dims& dims = c.dims(0);
    if (dims.size() != 1 && !(dims.size() == 2 && dims[0] == 1)) {
        return Error{
            fmt::format("the input has shape {}, but must be [C] or [1,C]", to_string(dims))};
    }
    SDX_ASSIGN(CaseChange change, case_change(c));
    bool is_case_sensitive = c.int_attribute("is_case_sensitive") != 0;
    auto key = [&](const std::string& text) { return is_case_sensitive ? text : lower_case(text); };
    std::unordered_set<std::string> stop_words;
    for (const std::string& word : c.strings_attribute("stopwords")) {
        stop_words.insert(key(word));
    }
    std::vector<std::string> kept;
    const std::string* texts = c.tensor(0).elements<std::string>().data();
    in_turns(c.threads(), c.tensor(0).count(), kTextsPerTask, [&](int64_t begin, int64_t end) {
        for (const std::string& text : std::span(texts + begin, texts + end)) {
            if (stop_words.empty() || stop_words.find(key(text)) == stop_words.end()) {
                kept.push_back(change == CaseChange::kLower   ? lower_case(text)
                               : change == CaseChange::kUpper ? upper_case(text)
                                                              : text);
            }
        }
    });
    if (kept.empty()) {
        kept.emplace_back();
    }
    auto count = static_cast<int64_t>(kept.size());
    c.set_output(
        0, Tensor::of_strings(dims.size() == 1 ? Dims{count} : Dims{1, count}, std::move(kept)));
    return {};
}

// https://onnx.ai/onnx/operators/onnx__StringSplit.html
Status string_split(KernelContext& c) {
    std::string_view delimiter = c.string_attribute("delimiter");
    // A negative number, which has no meaning in the text, is no limit, as -1 is in Python.
    uint64_t max_splits = c.has_attribute("maxsplit")
                              ? static_cast<uint64_t>(c.int_attribute("maxsplit"))
                              : UINT64_MAX;
    SDX_ASSIGN(Tensor counts, c.scratch(ElementType::kInt64, c.dims(0)));
    int64_t n = counts.count();
    int64_t* lengths = counts.mutable_elements<int64_t>().data();
    std::vector<Pieces> rows(static_cast<size_t>(n));
    const std::string* texts = c.tensor(0).elements<std::string>().data();
    size_t longest = 0;
    in_turns(c.threads(), n, kTextsPerTask, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            rows[i] = delimiter.empty() ? split_at_spaces(texts[i], max_splits)
                                        : split_at(texts[i], delimiter, max_splits);
            lengths[i] = static_cast<int64_t>(rows[i].size());
            longest = std::max(longest, rows[i].size());
        }
    });
    Dims dims = c.dims(0);
    dims.push_back(static_cast<int64_t>(longest));
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kString, std::move(dims)));
    std::string* result = out->mutable_elements<std::string>().data();
    in_turns(c.threads(), n, kTextsPerTask, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            for (size_t k = 0; k < rows[i].size(); ++k) {
                result[i * longest + k] = std::string(rows[i][k]);
            }
        }
    });
    if (c.wants(1)) {
        c.set_output(1, std::move(counts));
    }
    return {};
}

}  // namespace sardonyx::eval::kernels
