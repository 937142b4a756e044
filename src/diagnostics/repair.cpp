#include "diagnostics/repair.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace sardonyx::diagnostics {
namespace {

bool before(const Edit& a, const Edit& b) {
    return std::tuple(a.span.file.index, a.span.begin, a.span.end) <
           std::tuple(b.span.file.index, b.span.begin, b.span.end);
}

bool same_edit(const Edit& a, const Edit& b) {
    return a.span == b.span && a.replacement == b.replacement;
}

// Two insertions at one place are in no order.
bool overlap(const Edit& a, const Edit& b) {
    return a.span.file == b.span.file &&
           ((a.span.begin < b.span.end && b.span.begin < a.span.end) ||
            (a.span.begin == b.span.begin && a.span.begin == a.span.end &&
             b.span.begin == b.span.end));
}

// Sorted edits of which no two overlap.
class Accepted {
  public:
    // False when one of them overlaps with what has been accepted before.
    bool add(const std::vector<Edit>& edits) {
        std::vector<Edit> fresh;
        bool all_there = std::all_of(edits.begin(), edits.end(), [this](const Edit& edit) {
            return fate_of(edit) == Fate::kThere;
        });
        for (const Edit& edit : edits) {
            Fate fate = fate_of(edit);
            // The same bracket of two findings is two brackets.
            bool is_insertion = edit.span.begin == edit.span.end;
            if (fate == Fate::kOverlaps || (fate == Fate::kThere && is_insertion && !all_there)) {
                return false;
            }
            if (fate == Fate::kNew) {
                fresh.push_back(edit);
            }
        }
        std::sort(fresh.begin(), fresh.end(), before);
        for (size_t i = 1; i < fresh.size(); ++i) {
            if (overlap(fresh[i - 1], fresh[i])) {
                return false;
            }
        }
        for (Edit& edit : fresh) {
            Key key{edit.span.file.index, edit.span.begin, edit.span.end};
            edits_.emplace(key, std::move(edit));
        }
        return true;
    }

    using Key = std::tuple<uint32_t, uint32_t, uint32_t>;
    const std::map<Key, Edit>& edits() const { return edits_; }

  private:
    enum class Fate { kNew, kThere, kOverlaps };

    Fate fate_of(const Edit& edit) const {
        auto next = edits_.lower_bound({edit.span.file.index, edit.span.begin, edit.span.begin});
        if (next != edits_.begin() && overlap(std::prev(next)->second, edit)) {
            return Fate::kOverlaps;
        }
        for (; next != edits_.end() && std::get<0>(next->first) == edit.span.file.index &&
               std::get<1>(next->first) <= edit.span.end;
             ++next) {
            if (same_edit(next->second, edit)) {
                return Fate::kThere;
            }
            if (overlap(next->second, edit)) {
                return Fate::kOverlaps;
            }
        }
        return Fate::kNew;
    }

    std::map<Key, Edit> edits_;
};

std::string with_line_breaks_of(std::string_view text, const std::string& replacement) {
    size_t at = text.find('\n');
    bool is_crlf = at != std::string_view::npos && at > 0 && text[at - 1] == '\r';
    if (!is_crlf || replacement.find('\n') == std::string::npos) {
        return replacement;
    }
    std::string out;
    for (char c : replacement) {
        out += c == '\n' ? "\r\n" : std::string(1, c);
    }
    return out;
}

bool is_editable(const Sources& sources, const Diagnostic& finding,
                 const std::vector<FileId>& files) {
    return !finding.edits.empty() &&
           std::all_of(finding.edits.begin(), finding.edits.end(), [&](const Edit& edit) {
               return std::find(files.begin(), files.end(), edit.span.file) != files.end() &&
                      edit.span.begin <= edit.span.end &&
                      edit.span.end <= sources.text(edit.span.file).size();
           });
}

}  // namespace

Repairs apply_edits(const Sources& sources, const std::vector<const Diagnostic*>& findings,
                    const std::vector<FileId>& files) {
    Repairs repairs;
    Accepted accepted;
    for (const Diagnostic* finding : findings) {
        if (is_editable(sources, *finding, files) && accepted.add(finding->edits)) {
            repairs.findings.push_back(finding);
        }
    }
    std::map<uint32_t, uint32_t> done;  // how much of each text has been copied
    for (const auto& [key, edit] : accepted.edits()) {
        std::string_view text = sources.text(edit.span.file);
        uint32_t& from = done[edit.span.file.index];
        std::string& out = repairs.texts[edit.span.file.index];
        out += text.substr(from, edit.span.begin - from);
        out += with_line_breaks_of(text, edit.replacement);
        from = edit.span.end;
    }
    for (auto& [file, out] : repairs.texts) {
        out += sources.text(FileId{file}).substr(done[file]);
    }
    return repairs;
}

}  // namespace sardonyx::diagnostics
