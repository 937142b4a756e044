// TfIdfVectorizer (https://onnx.ai/onnx/operators/onnx__TfIdfVectorizer.html): counts the n-grams
// of a pool, which stand in a trie over numbered tokens.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

enum class Weighting : uint8_t { kCounts, kPresence, kWeightedCounts };

// A token that no n-gram of the pool has.
constexpr int64_t kNoToken = -1;

// Look-ups after which a loop asks whether the run shall end.
constexpr int64_t kTurn = kPolled / 16;

class Vectorizer {
  public:
    Status read(const KernelContext& c) {
        SDX_TRY(read_options(c));
        std::span<const int64_t> indexes = c.ints_attribute("ngram_indexes");
        for (int64_t index : indexes) {
            if (index < 0 || index == INT64_MAX) {
                return Error{fmt::format("ngram_indexes has {}", index)};
            }
            width_ = std::max(width_, index + 1);
        }
        weights_ = c.floats_attribute("weights");
        if (!weights_.empty() && weights_.size() != indexes.size()) {
            return Error{fmt::format("{} weights for {} n-grams", weights_.size(), indexes.size())};
        }
        std::vector<int64_t> pool = number_pool(c);
        return read_pool(c.ints_attribute("ngram_counts"), pool, indexes);
    }

    int64_t width() const { return width_; }

    // When the run shall end, some of them are wrong.
    std::vector<int64_t> tokens(const Workers& threads, const Tensor& x) const {
        std::vector<int64_t> result(static_cast<size_t>(x.count()), kNoToken);
        auto number = [&](const auto& values, const auto& numbers) {
            in_turns(threads, x.count(), kTurn, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    auto found = numbers.find(values[i]);
                    result[i] = found == numbers.end() ? kNoToken : found->second;
                }
            });
        };
        if (x.element_type() == ElementType::kString) {
            number(x.elements<std::string>(), string_tokens_);
        } else if (x.element_type() == ElementType::kInt64) {
            number(x.elements<int64_t>(), int_tokens_);
        } else {
            number(x.elements<int32_t>(), int_tokens_);
        }
        return result;
    }

    // `out` has width() elements.
    void vectorize(const Workers& threads, std::span<const int64_t> row, float* out) const {
        std::fill(out, out + width_, 0.0F);
        auto n = static_cast<int64_t>(row.size());
        int64_t shortest = min_length_;
        // With no room for an n-gram at one distance, there is none at the greater ones.
        for (int64_t distance = 1; distance <= max_skip_ + 1 && distance <= std::max<int64_t>(1, n);
             ++distance) {
            bool goes_on = in_turns(threads, n, kTurn, [&](int64_t begin, int64_t end) {
                for (int64_t start = begin; start < end; ++start) {
                    count_from(row, start, distance, shortest, out);
                }
            });
            if (!goes_on) {
                return;
            }
            // Single tokens do not depend on the distance: they count once.
            shortest = std::max<int64_t>(shortest, 2);
            if (shortest > max_length_) {
                break;
            }
        }
    }

  private:
    struct Node {
        std::map<int64_t, size_t> next;
        int64_t column = -1;  // of the n-gram that ends here
        float weight = 1;
    };

    Status read_options(const KernelContext& c) {
        std::string_view mode = c.string_attribute("mode");
        if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
            return Error{fmt::format("mode `{}` is not known", mode)};
        }
        weighting_ = mode == "TF"    ? Weighting::kCounts
                     : mode == "IDF" ? Weighting::kPresence
                                     : Weighting::kWeightedCounts;
        min_length_ = c.int_attribute("min_gram_length");
        max_length_ = c.int_attribute("max_gram_length");
        max_skip_ = c.int_attribute("max_skip_count");
        if (min_length_ < 1 || max_length_ < min_length_ || max_skip_ < 0 ||
            max_skip_ == INT64_MAX) {
            return Error{fmt::format("lengths {} to {} with {} skips are not possible", min_length_,
                                     max_length_, max_skip_)};
        }
        return {};
    }

    std::vector<int64_t> number_pool(const KernelContext& c) {
        std::vector<int64_t> pool;
        for (int64_t value : c.ints_attribute("pool_int64s")) {
            pool.push_back(
                int_tokens_.emplace(value, static_cast<int64_t>(int_tokens_.size())).first->second);
        }
        for (const std::string& text : c.strings_attribute("pool_strings")) {
            auto number = static_cast<int64_t>(string_tokens_.size());
            pool.push_back(string_tokens_.emplace(text, number).first->second);
        }
        return pool;
    }

    // `starts` says where the n-grams of each length begin in the pool.
    Status read_pool(std::span<const int64_t> starts, std::span<const int64_t> pool,
                     std::span<const int64_t> columns) {
        size_t ngram = 0;
        for (size_t i = 0; i < starts.size(); ++i) {
            auto size = static_cast<int64_t>(i) + 1;
            int64_t end = i + 1 < starts.size() ? starts[i + 1] : static_cast<int64_t>(pool.size());
            if (starts[i] < 0 || end < starts[i] || end > static_cast<int64_t>(pool.size()) ||
                (end - starts[i]) % size != 0) {
                return Error{fmt::format("ngram_counts puts the {}-grams at {} to {} of {}", size,
                                         starts[i], end, pool.size())};
            }
            for (int64_t at = starts[i]; at < end; at += size, ++ngram) {
                if (ngram >= columns.size()) {
                    return Error{"ngram_indexes is shorter than the pool"};
                }
                if (size >= min_length_ && size <= max_length_) {
                    enter(pool.subspan(at, size), columns[ngram], ngram);
                }
            }
        }
        return {};
    }

    // Weights belong to n-grams, as the standard says and ONNX Runtime has it; onnx.reference takes
    // them for those of columns.
    void enter(std::span<const int64_t> ngram, int64_t column, size_t index) {
        size_t node = 0;
        for (int64_t token : ngram) {
            size_t next = nodes_[node].next.try_emplace(token, nodes_.size()).first->second;
            node = next;
            if (node == nodes_.size()) {
                nodes_.emplace_back();
            }
        }
        nodes_[node].column = column;
        bool is_weighted = weighting_ != Weighting::kCounts && !weights_.empty();
        nodes_[node].weight = is_weighted ? weights_[index] : 1;
    }

    void count_from(std::span<const int64_t> row, int64_t start, int64_t distance, int64_t shortest,
                    float* out) const {
        size_t node = 0;
        int64_t size = 1;
        for (int64_t at = start; at < static_cast<int64_t>(row.size()) && size <= max_length_;
             at += distance, ++size) {
            auto found = nodes_[node].next.find(row[at]);
            if (found == nodes_[node].next.end()) {
                return;
            }
            node = found->second;
            if (size >= shortest && nodes_[node].column >= 0) {
                float& sum = out[nodes_[node].column];
                sum = nodes_[node].weight + (weighting_ == Weighting::kPresence ? 0 : sum);
            }
        }
    }

    Weighting weighting_ = Weighting::kCounts;
    int64_t min_length_ = 1, max_length_ = 1, max_skip_ = 0;
    int64_t width_ = 0;
    std::span<const float> weights_;
    std::map<int64_t, int64_t> int_tokens_;
    std::map<std::string, int64_t> string_tokens_;
    std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace

Status tf_idf_vectorizer(KernelContext& c) {
    const Dims& dims = c.dims(0);
    if (dims.size() > 2) {
        return Error{
            fmt::format("the input has shape {}, but must be [C] or [N,C]", to_string(dims))};
    }
    bool has_ints = c.has_attribute("pool_int64s");
    if (has_ints == c.has_attribute("pool_strings") ||
        has_ints == (c.type(0) == ElementType::kString)) {
        return Error{"the pool must be either of strings or of integers, as the input is"};
    }
    auto read = [&]() -> Result<Vectorizer> {
        Vectorizer made;
        SDX_TRY(made.read(c));
        return made;
    };
    SDX_ASSIGN(std::shared_ptr<const Vectorizer> vectorizer,
               of_attributes<Vectorizer>(
                   c, [](const Vectorizer&) { return true; }, read));
    int64_t rows = dims.size() == 2 ? dims[0] : 1;
    int64_t columns = dims.empty() ? 1 : dims.back();
    Dims result = dims.size() == 2 ? Dims{rows, vectorizer->width()} : Dims{vectorizer->width()};
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kFloat, std::move(result)));
    std::vector<int64_t> tokens = vectorizer->tokens(c.threads(), c.tensor(0));
    float* data = out->mutable_elements<float>().data();
    for (int64_t i = 0; i < rows && out->count() > 0; ++i) {
        SDX_TRY(check_interrupt(c.options()));
        vectorizer->vectorize(c.threads(), std::span(tokens).subspan(i * columns, columns),
                              data + i * vectorizer->width());
    }
    return {};
}

}  // namespace sardonyx::eval::kernels
