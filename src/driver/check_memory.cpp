#include "driver/check_memory.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/content_hash.h"
#include "driver/script_words.h"

namespace sardonyx::driver {
namespace {

constexpr size_t kMostSteps = 1 << 20;  // from script to script, before nothing is kept

std::string_view bytes_of(const uint64_t& number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}

// The scripts that are named outside of bodies, but for the `def` of each.
std::vector<size_t> exposed_scripts(const ScriptLayout& layout,
                                    const std::vector<std::string_view>& gaps) {
    std::unordered_map<std::string_view, size_t> counts;
    for (const ScriptBody& body : layout.bodies) {
        counts[body.name] = 0;
    }
    for (std::string_view gap : gaps) {
        for_each_word(gap, [&](std::string_view word) {
            auto found = counts.find(word);
            if (found != counts.end()) {
                ++found->second;
            }
        });
    }
    std::vector<size_t> exposed;
    for (size_t i = 0; i < layout.bodies.size(); ++i) {
        if (counts[layout.bodies[i].name] != 1) {
            exposed.push_back(i);
        }
    }
    return exposed;
}

// Says where something stands by its number, which an edit elsewhere changes.
bool names_a_line(std::string_view words) {
    for (size_t at = words.find("line "); at != std::string_view::npos;
         at = words.find("line ", at + 1)) {
        if (at + 5 < words.size() && std::isdigit(static_cast<unsigned char>(words[at + 5])) != 0) {
            return true;
        }
    }
    return false;
}

}  // namespace

void CheckMemory::begin(const ScriptLayout& layout) {
    file_ = layout.file;
    kept_.clear();  // by a check that was stopped before its end
    regions_.clear();
    std::vector<std::string_view> gaps;
    uint32_t at = 0, size = static_cast<uint32_t>(layout.text.size());
    for (const ScriptBody& body : layout.bodies) {
        if (body.begin < at || body.end < body.begin || body.end > size) {
            is_on_ = false;
            return;
        }
        regions_.insert(regions_.end(), {{at, body.begin}, {body.begin, body.end}});
        gaps.push_back(layout.text.substr(at, body.begin - at));
        at = body.end;
    }
    regions_.push_back({at, size});
    gaps.push_back(layout.text.substr(at));

    std::vector<std::string_view> parts{bytes_of(layout.context)};
    std::vector<uint64_t> sizes;
    sizes.reserve(gaps.size());
    for (std::string_view gap : gaps) {
        sizes.push_back(gap.size());
        parts.insert(parts.end(), {bytes_of(sizes.back()), gap});
    }
    uint64_t outside = content_hash(parts);
    std::vector<uint64_t> bodies;
    for (const ScriptBody& body : layout.bodies) {
        std::string_view text = layout.text.substr(body.begin, body.end - body.begin);
        bodies.push_back(content_hash({{text}}));
    }
    std::vector<size_t> exposed = exposed_scripts(layout, gaps);
    size_t steps = 0;
    keys_.clear();
    seen_.assign(bodies.size(), {});
    for (size_t i = 0; i < bodies.size(); ++i) {
        std::vector<size_t>& seen = seen_[i];
        std::unordered_set<size_t> is_seen{i};
        seen.push_back(i);
        auto see = [&](const std::vector<size_t>& scripts) {
            for (size_t script : scripts) {
                if (is_seen.insert(script).second) {
                    seen.push_back(script);
                }
            }
            steps += scripts.size() + 1;
        };
        see(exposed);
        for (size_t k = 0; k < seen.size() && steps < kMostSteps; ++k) {
            see(layout.mentioned[seen[k]]);
        }
        std::sort(seen.begin(), seen.end());
        std::vector<uint64_t> of_script{outside, i};
        for (size_t script : seen) {
            of_script.insert(of_script.end(), {script, bodies[script]});
        }
        std::vector<std::string_view> words;
        for (const uint64_t& number : of_script) {
            words.push_back(bytes_of(number));
        }
        keys_.push_back(content_hash(words));
    }
    is_on_ = steps < kMostSteps;
}

// The last region that begins at or before a place, empty ones passed over.
size_t CheckMemory::region_of(const std::vector<Bounds>& regions, uint32_t place) {
    auto behind = std::partition_point(regions.begin(), regions.end(),
                                       [place](const Bounds& one) { return one.begin <= place; });
    return static_cast<size_t>(std::max<std::ptrdiff_t>(behind - regions.begin() - 1, 0));
}

uint32_t CheckMemory::moved_begin(uint32_t place) const {
    size_t region = region_of(last_regions_, place);
    return regions_[region].begin + (place - last_regions_[region].begin);
}

// An end is behind the last byte of a range, and moves with that.
uint32_t CheckMemory::moved_end(uint32_t place) const {
    return moved_begin(place - 1) + 1;
}

const ScriptFindings* CheckMemory::find(size_t script) {
    if (!is_on_ || last_regions_.size() != regions_.size()) {
        return nullptr;
    }
    auto found = last_.find(keys_[script]);
    if (found == last_.end()) {
        return nullptr;
    }
    ScriptFindings moved = std::move(found->second);
    last_.erase(found);
    auto move = [this](diagnostics::Span& span) {
        if (span.valid()) {
            bool is_empty = span.begin == span.end;
            span.begin = moved_begin(span.begin);
            span.end = is_empty ? span.begin : moved_end(span.end);
            span.file = file_;
        }
    };
    for (diagnostics::Diagnostic& finding : moved.findings) {
        for (diagnostics::Label& label : finding.labels) {
            move(label.span);
        }
        for (diagnostics::Edit& edit : finding.edits) {
            move(edit.span);
        }
    }
    for (diagnostics::Inlay& type : moved.types) {
        move(type.span);
    }
    return &(kept_[keys_[script]] = std::move(moved));
}

// Whether both ends of a range are where the script sees what changes.
bool CheckMemory::can_see(size_t script, const diagnostics::Span& span) const {
    if (!span.valid()) {
        return true;
    }
    if (span.file != file_) {
        return false;
    }
    auto sees = [&](size_t region) {
        return region % 2 == 0 ||
               std::binary_search(seen_[script].begin(), seen_[script].end(), region / 2);
    };
    return sees(region_of(regions_, span.begin)) &&
           (span.begin == span.end || sees(region_of(regions_, span.end - 1)));
}

bool CheckMemory::can_keep(size_t script, const ScriptFindings& found) const {
    auto is_fit = [&](const diagnostics::Diagnostic& finding) {
        return !names_a_line(finding.message) && !names_a_line(finding.help) &&
               std::none_of(finding.notes.begin(), finding.notes.end(), names_a_line) &&
               std::all_of(finding.labels.begin(), finding.labels.end(),
                           [&](const diagnostics::Label& label) {
                               return !names_a_line(label.message) && can_see(script, label.span);
                           }) &&
               std::all_of(
                   finding.edits.begin(), finding.edits.end(),
                   [&](const diagnostics::Edit& edit) { return can_see(script, edit.span); });
    };
    return std::all_of(found.findings.begin(), found.findings.end(), is_fit) &&
           std::all_of(found.types.begin(), found.types.end(),
                       [&](const diagnostics::Inlay& type) { return can_see(script, type.span); });
}

void CheckMemory::keep(size_t script, const ScriptFindings& found) {
    if (is_on_ && can_keep(script, found)) {
        kept_[keys_[script]] = found;
    }
}

void CheckMemory::end() {
    last_ = std::exchange(kept_, {});
    last_regions_ = regions_;
    is_on_ = false;
}

}  // namespace sardonyx::driver
