#include "lsp/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace sardonyx::lsp {
namespace {

constexpr std::string_view kFile = "file://";

int digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

uint32_t unsigned_of(const Json& json) {
    return static_cast<uint32_t>(std::clamp<int64_t>(json.integer(), 0, UINT32_MAX));
}

uint32_t offset_in(const ide::LineTable& lines, const Json& place, ide::Encoding encoding) {
    return lines.offset({unsigned_of(place["line"]), unsigned_of(place["character"])}, encoding);
}

}  // namespace

std::string path_of(std::string_view uri) {
    if (uri.substr(0, kFile.size()) != kFile) {
        return std::filesystem::path(uri).lexically_normal().string();
    }
    uri.remove_prefix(std::min(uri.find('/', kFile.size()), uri.size()));
    std::string path;
    for (size_t i = 0; i < uri.size(); ++i) {
        bool is_escape =
            uri[i] == '%' && i + 2 < uri.size() && digit(uri[i + 1]) >= 0 && digit(uri[i + 2]) >= 0;
        path += is_escape ? static_cast<char>(digit(uri[i + 1]) * 16 + digit(uri[i + 2])) : uri[i];
        i += is_escape ? 2 : 0;
    }
    return std::filesystem::path(path).lexically_normal().string();
}

std::string uri_of(std::string_view path) {
    if (path.substr(0, 1) != "/") {
        return std::string(path);
    }
    std::string uri(kFile);
    for (char c : path) {
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z') ||
                        std::string_view("/-._~").find(c) != std::string_view::npos;
        uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri;
}

void State::open(std::string_view uri, int64_t version, std::string text) {
    std::string path = path_of(uri);
    Document& document = documents_[path];
    document.uri = uri;
    document.version = version;
    texts_[path] = std::move(text);
    forget_analyses();
}

void State::change(std::string_view uri, int64_t version, const Json& changes) {
    std::string path = path_of(uri);
    auto found = documents_.find(path);
    if (found == documents_.end()) {
        return;
    }
    std::string& text = texts_[path];
    for (const Json& change : changes.items()) {
        const Json& range = change["range"];
        if (!range.is_object()) {
            text = change["text"].text();
            continue;
        }
        ide::LineTable lines(text);
        uint32_t begin = offset_in(lines, range["start"], encoding);
        uint32_t end = std::max(begin, offset_in(lines, range["end"], encoding));
        text.replace(begin, end - begin, change["text"].text());
    }
    found->second.version = version;
    forget_analyses();
}

void State::close(std::string_view uri) {
    std::string path = path_of(uri);
    documents_.erase(path);
    texts_.erase(path);
    forget_analyses();
}

// Files import each other: what one says may change what is known of all.
void State::forget_analyses() {
    for (auto& [path, document] : documents_) {
        document.analysis.reset();
        document.lines.reset();
        document.is_told = false;
    }
}

void State::analyse(const std::string& path, Document& document) {
    if (document.analysis == nullptr) {
        document.analysis = std::make_unique<ide::Analysis>(texts_, path, settings_);
        document.lines = std::make_unique<ide::LineTable>(document.analysis->text());
    }
}

bool State::has(std::string_view uri) const {
    return documents_.count(path_of(uri)) != 0;
}

const Document* State::document(std::string_view uri) {
    auto found = documents_.find(path_of(uri));
    if (found == documents_.end()) {
        return nullptr;
    }
    analyse(found->first, found->second);
    return &found->second;
}

Document* State::next_untold() {
    for (auto& [path, document] : documents_) {
        if (!document.is_told) {
            analyse(path, document);
            document.is_told = true;
            return &document;
        }
    }
    return nullptr;
}

Json State::place(const Document& document, uint32_t offset) const {
    return place(*document.lines, offset);
}

Json State::place(const ide::LineTable& lines, uint32_t offset) const {
    ide::Place place = lines.place(offset, encoding);
    return Json::object({{"line", place.line}, {"character", place.character}});
}

Json State::range(const Document& document, ide::Range range) const {
    return Json::object(
        {{"start", place(document, range.begin)}, {"end", place(document, range.end)}});
}

uint32_t State::offset(const Document& document, const Json& place) const {
    return offset_in(*document.lines, place, encoding);
}

}  // namespace sardonyx::lsp
