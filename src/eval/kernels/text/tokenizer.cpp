// Tokenizer of com.microsoft, which text pipelines of scikit-learn become:
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.Tokenizer.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"
#include "eval/kernels/regex/characters.h"
#include "eval/kernels/regex/regex.h"
#include "eval/kernels/regex/regex_search.h"
#include "eval/operators/kernel.h"
#include "eval/runtime/parallel.h"

namespace sardonyx::eval::kernels {
namespace {

using Tokens = std::vector<std::string_view>;

constexpr int64_t kTextsPerTurn = 1 << 8;
// What stands before and behind the tokens of a text where `mark` is set.
constexpr std::string_view kStart = "\x02", kEnd = "\x03";

// How texts are cut: at each match of the separators, one after the other; into characters, where
// the only separator is empty, or the pattern of a token is `.`, line breaks too, as in ONNX
// Runtime; or into the matches of `token`.
struct TextCut {
    std::vector<Regex> separators;
    std::optional<Regex> token;
    bool is_by_character = false;
    size_t least = 1;  // characters of a token
};

Result<TextCut> read_cut(const KernelContext& c) {
    TextCut cut;
    int64_t least = c.int_attribute("mincharnum");
    if (least < 1) {
        return Error{fmt::format("attribute `mincharnum` is {}, but must be positive", least)};
    }
    cut.least = static_cast<size_t>(least);
    std::span<const std::string> separators = c.strings_attribute("separators");
    std::string_view token = c.string_attribute("tokenexp");
    if (separators.empty() && token.empty()) {
        return Error{"one of the attributes `separators` and `tokenexp` is needed"};
    }
    cut.is_by_character =
        separators.empty() ? token == "." : separators.size() == 1 && separators[0].empty();
    if (cut.is_by_character) {
        return least == 1
                   ? Result<TextCut>(std::move(cut))
                   : Error{"the texts are cut into characters, but `mincharnum` is more than 1"};
    }
    if (separators.empty()) {
        SDX_ASSIGN(cut.token, Regex::compile(token));
    }
    for (const std::string& separator : separators) {
        SDX_ASSIGN(Regex regex, Regex::compile(separator));
        cut.separators.push_back(std::move(regex));
    }
    return cut;
}

// Cuts texts, with the states of the patterns that it keeps from one text to the next.
class Cutter {
  public:
    Cutter(const TextCut& cut, const Workers& workers)
        : cut_(cut), workers_(workers), separators_(cut.separators.begin(), cut.separators.end()) {
        if (cut.token) {
            token_.emplace(*cut.token);
        }
    }

    Result<Tokens> tokens_of(std::string_view text) {
        Tokens tokens;
        if (cut_.is_by_character) {
            for (size_t at = 0; at < text.size();) {
                size_t length = utf8_sequence_length(text.substr(at));
                tokens.push_back(text.substr(at, length));
                at += length;
            }
            return tokens;
        }
        if (token_) {
            each_match(*token_, text, [&](size_t begin, size_t end) {
                tokens.push_back(text.substr(begin, end - begin));
                return true;
            });
        } else {
            tokens.push_back(text);
        }
        for (RegexSearch& separator : separators_) {
            Tokens smaller;
            for (std::string_view one : tokens) {
                SDX_TRY(add_pieces(separator, one, &smaller));
            }
            tokens = std::move(smaller);
        }
        auto is_short = [&](std::string_view one) { return code_points(one).size() < cut_.least; };
        tokens.erase(std::remove_if(tokens.begin(), tokens.end(), is_short), tokens.end());
        return tokens;
    }

  private:
    // The matches from left to right, each as long as possible: `found` gets where one begins and
    // ends, and returns false to end the search. An empty match is passed by with the character
    // behind it. Asks whether the run shall end at some of all the places that are tried.
    template <typename Found>
    void each_match(RegexSearch& search, std::string_view text, Found found) {
        constexpr size_t kPlacesPerPoll = 64;
        search.read(text);
        for (size_t at = 0; at < text.size();) {
            if (workers_.are_stopped() || (++places_ % kPlacesPerPoll == 0 && workers_.poll())) {
                return;
            }
            std::optional<size_t> end = search.longest_at(at);
            if (end && !found(at, *end)) {
                return;
            }
            at = end && *end > at ? *end : at + utf8_sequence_length(text.substr(at));
        }
    }

    // What stands between the matches of a separator.
    Status add_pieces(RegexSearch& separator, std::string_view text, Tokens* pieces) {
        size_t last = 0;
        bool is_empty = false;
        each_match(separator, text, [&](size_t begin, size_t end) {
            is_empty = begin == end;
            pieces->push_back(text.substr(last, begin - last));
            last = end;
            return !is_empty;
        });
        if (is_empty) {
            return Error{"a separator matches the empty text, which separates nothing"};
        }
        pieces->push_back(text.substr(last));
        return {};
    }

    const TextCut& cut_;
    Workers workers_;
    std::vector<RegexSearch> separators_;
    std::optional<RegexSearch> token_;
    size_t places_ = 0;
};

}  // namespace

Status tokenizer(KernelContext& c) {
    Dims dims = c.dims(0);
    if (dims.size() != 1 && dims.size() != 2) {
        return Error{
            fmt::format("the input has shape {}, but must be [C] or [N,C]", to_string(dims))};
    }
    SDX_ASSIGN(TextCut cut, read_cut(c));
    auto n = static_cast<int64_t>(c.tensor(0).count());
    std::vector<Tokens> rows(static_cast<size_t>(n));
    const std::string* texts = c.tensor(0).elements<std::string>().data();
    size_t longest = 0;
    std::optional<std::string> wrong;
    Cutter cutter(cut, c.threads());
    in_turns(c.threads(), n, kTextsPerTurn, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end && !wrong; ++i) {
            if (!is_utf8(texts[i])) {
                wrong = fmt::format("element {} of the input is not UTF-8", i);
                return;
            }
            Result<Tokens> tokens = cutter.tokens_of(texts[i]);
            if (!tokens.ok()) {
                wrong = tokens.error().message;
                return;
            }
            rows[i] = std::move(*tokens);
            longest = std::max(longest, rows[i].size());
        }
    });
    if (wrong) {
        return Error{*std::move(wrong)};
    }
    bool is_marked = c.int_attribute("mark") != 0 && longest > 0;
    size_t columns = longest + (is_marked ? 2 : 0);
    if (n > 0) {
        dims.push_back(static_cast<int64_t>(columns));
    } else {  // [0] stays so, [N,0] and [0,C] give [N,0]
        dims.back() = 0;
    }
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kString, std::move(dims)));
    std::string* result = out->mutable_elements<std::string>().data();
    std::string_view padding = c.string_attribute("pad_value");
    in_turns(c.threads(), columns == 0 ? 0 : n, kTextsPerTurn, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            Tokens& row = rows[i];
            if (is_marked) {
                row.insert(row.begin(), kStart);
                row.push_back(kEnd);
            }
            row.resize(columns, padding);
            std::copy(row.begin(), row.end(), result + static_cast<size_t>(i) * columns);
        }
    });
    return {};
}

}  // namespace sardonyx::eval::kernels
