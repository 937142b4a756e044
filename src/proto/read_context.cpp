#include "proto/read_context.h"

#include <fmt/format.h>

#include <span>

#include "base/quote.h"
#include "base/utf8.h"
#include "proto/wire.h"

namespace sardonyx::proto {

std::string ReadContext::path() const {
    std::string text;
    for (const Step& step : std::span<const Step>(path_).first(path_length_)) {
        if (!text.empty()) {
            text += '.';
        }
        text += step.field;
        if (step.index >= 0) {
            text += fmt::format("[{}]", step.index);
        }
    }
    return text;
}

bool ReadContext::fail(const std::string& message) {
    if (error_.empty()) {
        error_ = placed(message);
    }
    return false;
}

// Names come from the file: whatever would not print on a line is escaped.
std::string ReadContext::placed(const std::string& message) const {
    std::string escaped = sardonyx::quoted(path_length_ == 0 ? message : path() + ": " + message);
    return escaped.substr(1, escaped.size() - 2);
}

void ReadContext::note(const std::string& message) {
    constexpr size_t kMany = 100;  // more of them say nothing new
    if (options.breaches != nullptr && options.breaches->size() < kMany) {
        options.breaches->push_back(placed(message));
    }
}

bool ReadContext::fail_items() {
    return fail(fmt::format("more than {} items", options.max_items));
}

bool ReadContext::descend() {
    if (++depth_ > options.max_depth) {
        return fail(fmt::format("nested more than {} deep", options.max_depth));
    }
    return true;
}

bool ReadContext::check_text(std::string_view text, std::string_view* result) {
    *result = text;
    return is_utf8(text) || fail("a text is not UTF-8");
}

bool ReadContext::keep(std::string_view text, std::string_view* kept) {
    if (!check_text(text, kept)) {
        return false;
    }
    *kept = model.intern(text);
    return true;
}

bool ReadContext::keep_apart(std::string_view text, std::string_view* kept) {
    if (!check_text(text, kept)) {
        return false;
    }
    *kept = model.copy(text);
    return true;
}

bool read_varints(ReadContext& context, std::string_view packed, std::vector<int64_t>* result) {
    const char* data = packed.data();
    const char* end = data + packed.size();
    while (data != end) {
        if (!context.take()) {
            return false;
        }
        result->push_back(static_cast<int64_t>(protozero::decode_varint(&data, end)));
    }
    return true;
}

}  // namespace sardonyx::proto
