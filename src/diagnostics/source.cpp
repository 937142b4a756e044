#include "diagnostics/source.h"

#include <algorithm>

#include "base/check.h"

namespace sardonyx::diagnostics {

namespace {

// Where lines begin. Python ends a line at \n, \r\n and \r.
std::vector<uint32_t> find_lines(std::string_view text) {
    std::vector<uint32_t> starts{0};
    bool has_returns = text.find('\r') != std::string_view::npos;
    auto next = [&](size_t at) {
        return has_returns ? text.find_first_of("\r\n", at) : text.find('\n', at);
    };
    for (size_t at = next(0); at != std::string_view::npos; at = next(at)) {
        at += text.substr(at, 2) == "\r\n" ? 2 : 1;
        starts.push_back(static_cast<uint32_t>(at));
    }
    return starts;
}

}  // namespace

FileId Sources::add(std::string path, std::string text) {
    SDX_CHECK(text.size() < UINT32_MAX);
    std::lock_guard<std::mutex> guard(lock_);
    files_.push_back({std::move(path), std::move(text), {}});
    return FileId{static_cast<uint32_t>(files_.size() - 1)};
}

size_t Sources::size() const {
    std::lock_guard<std::mutex> guard(lock_);
    return files_.size();
}

const Sources::File& Sources::get(FileId file) const {
    std::lock_guard<std::mutex> guard(lock_);
    return files_[file.index];
}

const std::vector<uint32_t>& Sources::line_starts(FileId file) const {
    std::lock_guard<std::mutex> guard(lock_);
    const File& found = files_[file.index];
    if (found.line_starts.empty()) {
        found.line_starts = find_lines(found.text);
    }
    return found.line_starts;
}

Position Sources::position(FileId file, uint32_t offset) const {
    const std::vector<uint32_t>& starts = line_starts(file);
    std::string_view text = get(file).text;
    offset = std::min(offset, static_cast<uint32_t>(text.size()));
    auto next = std::upper_bound(starts.begin(), starts.end(), offset);
    uint32_t line = static_cast<uint32_t>(next - starts.begin());
    uint32_t column = 1;
    for (uint32_t i = starts[line - 1]; i < offset; ++i) {
        column += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 ? 1 : 0;
    }
    return {line, column};
}

std::string_view Sources::line(FileId file, uint32_t line) const {
    const std::vector<uint32_t>& starts = line_starts(file);
    std::string_view text = get(file).text;
    if (line == 0 || line > starts.size()) {
        return {};
    }
    size_t begin = starts[line - 1];
    size_t end = line < starts.size() ? starts[line] : text.size();
    while (end > begin && (text[end - 1] == '\n' || text[end - 1] == '\r')) {
        --end;
    }
    return text.substr(begin, end - begin);
}

}  // namespace sardonyx::diagnostics
