#include "diagnostics/inlays.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "diagnostics/glyphs.h"

namespace sardonyx::diagnostics {
namespace {

// Lines beyond this column do not push the comments of the others to the right.
constexpr size_t kMostColumns = 72;

// In code points: what is wider or narrower than one column is rare in scripts.
size_t width(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

}  // namespace

std::vector<Inlay> in_order(std::span<const Inlay> inlays) {
    auto place = [](const Inlay& inlay) {
        return std::make_tuple(inlay.span.file.index, inlay.span.begin, inlay.span.end);
    };
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, const Inlay*> last;
    for (const Inlay& inlay : inlays) {
        last[place(inlay)] = &inlay;
    }
    std::vector<Inlay> ordered;
    for (const auto& [where, inlay] : last) {
        ordered.push_back(*inlay);
    }
    return ordered;
}

std::string render_inlays(const Sources& sources, FileId file, std::span<const Inlay> inlays) {
    std::string_view text = sources.text(file);
    std::map<uint32_t, std::string> comments;  // by line
    size_t column = 0;
    for (const Inlay& inlay : inlays) {
        uint32_t line = sources.position(file, inlay.span.begin).line;
        std::string& comment = comments[line];
        comment += comment.empty() ? "# " : "; ";
        comment += text.substr(inlay.span.begin, inlay.span.end - inlay.span.begin);
        comment += ": " + inlay.text;
        column = std::max(column, std::min(width(visible(sources.line(file, line))), kMostColumns));
    }
    uint32_t lines = sources.position(file, static_cast<uint32_t>(text.size())).line;
    std::string out;
    for (uint32_t line = 1; line <= lines; ++line) {
        std::string shown = visible(sources.line(file, line));
        if (line == lines && shown.empty()) {
            break;  // what follows the last line break
        }
        auto comment = comments.find(line);
        if (comment != comments.end()) {
            size_t used = width(shown);
            shown.append(column > used ? column - used + 2 : 2, ' ');
            shown += visible(comment->second);
        }
        out += shown + "\n";
    }
    return out;
}

}  // namespace sardonyx::diagnostics
