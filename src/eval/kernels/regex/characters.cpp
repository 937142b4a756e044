#include "eval/kernels/regex/characters.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace sardonyx::eval {
namespace {

struct CaseRun {
    uint32_t first, last, step;
    int32_t delta;
};

const CaseRun kLower[] = {
#define SDX_LOWER(first, last, step, delta) {first, last, step, delta},
#define SDX_UPPER(first, last, step, delta)
#include "eval/kernels/regex/case_runs.def"
#undef SDX_LOWER
#undef SDX_UPPER
};
const CaseRun kUpper[] = {
#define SDX_LOWER(first, last, step, delta)
#define SDX_UPPER(first, last, step, delta) {first, last, step, delta},
#include "eval/kernels/regex/case_runs.def"
#undef SDX_LOWER
#undef SDX_UPPER
};

template <size_t N>
uint32_t map_case(const CaseRun (&runs)[N], uint32_t c) {
    // The last run that begins at or before c; runs do not overlap.
    const CaseRun* after =
        std::upper_bound(std::begin(runs), std::end(runs), c,
                         [](uint32_t value, const CaseRun& run) { return value < run.first; });
    if (after == std::begin(runs)) {
        return c;
    }
    const CaseRun& run = *(after - 1);
    bool is_in = c <= run.last && (c - run.first) % run.step == 0;
    return is_in ? c + static_cast<uint32_t>(run.delta) : c;
}

// A well-formed sequence of `length` bytes.
uint32_t decode(std::string_view sequence) {
    auto lead = static_cast<uint8_t>(sequence[0]);
    uint32_t c = sequence.size() == 1 ? lead : lead & (0xffU >> (sequence.size() + 1));
    for (char byte : sequence.substr(1)) {
        c = c << 6 | (static_cast<uint8_t>(byte) & 0x3fU);
    }
    return c;
}

void append(std::string* text, uint32_t c) {
    if (c < 0x80) {
        text->push_back(static_cast<char>(c));
        return;
    }
    int rest = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    uint32_t mark = 0xff00U >> (rest + 1);
    text->push_back(static_cast<char>((mark & 0xffU) | c >> (6 * rest)));
    for (int i = rest - 1; i >= 0; --i) {
        text->push_back(static_cast<char>(0x80U | (c >> (6 * i) & 0x3fU)));
    }
}

template <typename Map>
std::string mapped(std::string_view text, Map map) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        size_t length = utf8_sequence_length(text);
        if (length == 0) {
            result.push_back(text[0]);
        } else {
            append(&result, map(decode(text.substr(0, length))));
        }
        text.remove_prefix(std::max<size_t>(1, length));
    }
    return result;
}

}  // namespace

std::vector<uint32_t> code_points(std::string_view text) {
    std::vector<uint32_t> result;
    while (!text.empty()) {
        size_t length = utf8_sequence_length(text);
        result.push_back(length == 0 ? kNoCharacter : decode(text.substr(0, length)));
        text.remove_prefix(std::max<size_t>(1, length));
    }
    return result;
}

uint32_t lower_case(uint32_t c) {
    return map_case(kLower, c);
}
uint32_t upper_case(uint32_t c) {
    return map_case(kUpper, c);
}

std::string lower_case(std::string_view text) {
    return mapped(text, [](uint32_t c) { return lower_case(c); });
}
std::string upper_case(std::string_view text) {
    return mapped(text, [](uint32_t c) { return upper_case(c); });
}

}  // namespace sardonyx::eval
