#include "syntax/normal_form.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "syntax/utf8.h"

namespace sardonyx::syntax {
namespace {

constexpr uint32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr uint32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

uint8_t combining_class(uint32_t point) {
    std::span<const CombiningRun> runs = combining_runs();
    auto run = std::upper_bound(
        runs.begin(), runs.end(), point,
        [](uint32_t wanted, const CombiningRun& one) { return wanted < one.first; });
    return run != runs.begin() && point <= (run - 1)->last ? (run - 1)->combining_class : 0;
}

void decompose(uint32_t point, std::vector<uint32_t>& points) {
    if (point >= kSyllables && point < kSyllables + kSyllableCount) {
        uint32_t index = point - kSyllables, tail = index % kTailCount;
        points.push_back(kLeads + index / (kVowelCount * kTailCount));
        points.push_back(kVowels + index / kTailCount % kVowelCount);
        if (tail != 0) {
            points.push_back(kTails + tail);
        }
        return;
    }
    std::span<const Decomposition> rows = decompositions();
    auto row = std::lower_bound(
        rows.begin(), rows.end(), point,
        [](const Decomposition& one, uint32_t wanted) { return one.point < wanted; });
    if (row == rows.end() || row->point != point) {
        points.push_back(point);
        return;
    }
    std::span<const uint32_t> parts = decomposed_points().subspan(row->begin, row->length);
    points.insert(points.end(), parts.begin(), parts.end());
}

// Sorts the marks after each character by their class; those of one class keep their order.
void sort_marks(std::vector<uint32_t>& points) {
    auto less = [](uint32_t a, uint32_t b) { return combining_class(a) < combining_class(b); };
    auto is_mark = [](uint32_t point) { return combining_class(point) != 0; };
    for (auto begin = points.begin(); begin != points.end();) {
        begin = std::find_if(begin, points.end(), is_mark);
        auto end = std::find_if_not(begin, points.end(), is_mark);
        std::stable_sort(begin, end, less);
        begin = end;
    }
}

// 0: they stay two.
uint32_t composed(uint32_t first, uint32_t second) {
    if (first - kLeads < kLeadCount && second - kVowels < kVowelCount) {
        return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
    }
    if (first - kSyllables < kSyllableCount && (first - kSyllables) % kTailCount == 0 &&
        second > kTails && second < kTails + kTailCount) {
        return first + (second - kTails);
    }
    std::span<const Composition> rows = compositions();
    auto row = std::lower_bound(rows.begin(), rows.end(), std::pair(first, second),
                                [](const Composition& one, std::pair<uint32_t, uint32_t> wanted) {
                                    return std::pair(one.first, one.second) < wanted;
                                });
    bool is_it = row != rows.end() && row->first == first && row->second == second;
    return is_it ? row->composed : 0;
}

// Puts together each character and the marks after it that nothing of their class, or a character,
// keeps away from it.
std::vector<uint32_t> compose(const std::vector<uint32_t>& points) {
    std::vector<uint32_t> result;
    constexpr size_t kNone = SIZE_MAX;
    size_t starter = kNone;
    uint8_t last = 0;  // the class of what stands before; of nothing kept: 0
    for (uint32_t point : points) {
        uint8_t its_class = combining_class(point);
        bool is_beside = starter != kNone && (result.size() == starter + 1 || last < its_class);
        bool may_join = is_beside && (result.size() == starter + 1 || last != 0);
        uint32_t one = may_join ? composed(result[starter], point) : 0;
        if (one != 0) {
            result[starter] = one;
            continue;
        }
        if (its_class == 0) {
            starter = result.size();
        }
        last = its_class;
        result.push_back(point);
    }
    return result;
}

}  // namespace

std::string normal_form(std::string_view name) {
    if (std::none_of(name.begin(), name.end(), [](char c) { return (c & 0x80) != 0; })) {
        return std::string(name);
    }
    std::vector<uint32_t> points;
    for (size_t i = 0; i < name.size();) {
        Utf8 decoded = decode_utf8(name.substr(i));
        decompose(decoded.code_point, points);
        i += decoded.length;
    }
    sort_marks(points);
    std::string text;
    for (uint32_t point : compose(points)) {
        append_utf8(&text, point);
    }
    return text;
}

}  // namespace sardonyx::syntax
