#include "lsp/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "ide/files.h"
#include "ide/graph.h"
#include "ide/notebook.h"

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

// The reverse of path_of().
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
    path = std::filesystem::path(path).lexically_normal().string();
    if (path.size() > 1 && path.back() == '/') {
        path.pop_back();  // of a folder
    }
    return path;
}

void State::open(std::string_view uri, int64_t version, std::string text) {
    std::string path = path_of(uri);
    Document& document = documents_[path];
    document.uri = uri;
    document.version = version;
    document.text = std::move(text);
    auto notebook = std::find_if(notebooks_.begin(), notebooks_.end(), [&](const auto& one) {
        return std::find(one.second.begin(), one.second.end(), uri) != one.second.end();
    });
    document.path = notebook == notebooks_.end() ? path : notebook->first;
    if (notebook == notebooks_.end()) {
        texts_[path] = document.text;
    }
    forget_analyses();
}

void State::change(std::string_view uri, int64_t version, const Json& changes) {
    auto found = documents_.find(path_of(uri));
    if (found == documents_.end()) {
        return;
    }
    Document& document = found->second;
    std::string& text = document.text;
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
    document.version = version;
    if (notebooks_.count(document.path) == 0) {
        texts_[document.path] = text;
    }
    forget_analyses();
}

void State::close(std::string_view uri) {
    std::string path = path_of(uri);
    documents_.erase(path);
    if (notebooks_.count(path) == 0) {
        texts_.erase(path);
    }
    forget_analyses();
}

void State::arrange(std::string_view notebook, std::vector<std::string> cells) {
    std::string path = path_of(notebook);
    for (const std::string& uri : cells) {
        auto found = documents_.find(path_of(uri));
        if (found != documents_.end()) {
            found->second.path = path;
            texts_.erase(found->first);
        }
    }
    notebooks_[path] = std::move(cells);
    forget_analyses();
}

const std::vector<std::string>& State::cells(std::string_view notebook) const {
    static const std::vector<std::string> kNone;
    auto found = notebooks_.find(path_of(notebook));
    return found == notebooks_.end() ? kNone : found->second;
}

std::vector<std::string> State::close_notebook(std::string_view notebook) {
    std::string path = path_of(notebook);
    std::vector<std::string> closed;
    if (notebooks_.erase(path) == 0) {
        return closed;
    }
    texts_.erase(path);
    for (auto at = documents_.begin(); at != documents_.end();) {
        // Also cells that have been taken out of it.
        bool is_cell = at->second.path == path && at->first != path;
        if (is_cell) {
            closed.push_back(at->second.uri);
        }
        at = is_cell ? documents_.erase(at) : std::next(at);
    }
    forget_analyses();
    return closed;
}

// Files import each other: what one says may change what is known of all.
void State::forget_analyses() {
    for (auto& [path, document] : documents_) {
        document.analysis.reset();
        document.lines.reset();
        document.is_told = false;
    }
}

void State::analyse(Document& document) {
    if (document.analysis != nullptr) {
        return;
    }
    if (notebooks_.count(document.path) != 0) {
        analyse_cells(document.path);
    }
    if (document.analysis == nullptr) {
        // Nothing is known of a cell that has been taken out of its notebook.
        static const ide::Texts kNoTexts;
        const ide::Texts& texts = notebooks_.count(document.path) != 0 ? kNoTexts : texts_;
        document.analysis = std::make_shared<ide::Analysis>(
            texts, document.path, settings_.of(document.path), &document.memory);
        document.begin = 0;
        document.end = UINT32_MAX;
        document.lines = std::make_unique<ide::LineTable>(document.text);
    }
}

void State::analyse_cells(const std::string& notebook) {
    std::vector<Document*> cells;
    std::vector<std::string> texts;
    for (const std::string& uri : notebooks_[notebook]) {
        auto found = documents_.find(path_of(uri));
        if (found != documents_.end() && found->second.path == notebook) {
            cells.push_back(&found->second);
            texts.push_back(found->second.text);
        }
    }
    ide::JoinedCells joined = ide::join_cells(texts);
    texts_[notebook] = std::move(joined.text);
    auto analysis = std::make_shared<const ide::Analysis>(texts_, notebook, settings_.of(notebook));
    for (size_t i = 0; i < cells.size(); ++i) {
        cells[i]->analysis = analysis;
        cells[i]->begin = joined.begins[i];
        cells[i]->end = i + 1 < cells.size() ? joined.begins[i + 1] : UINT32_MAX;
        cells[i]->lines = std::make_unique<ide::LineTable>(cells[i]->text);
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
    analyse(found->second);
    return &found->second;
}

Document* State::next_untold() {
    for (auto& [path, document] : documents_) {
        if (!document.is_told) {
            analyse(document);
            document.is_told = true;
            return &document;
        }
    }
    return nullptr;
}

void State::visit_text(const std::string& path, std::string text, const Visit& visit) {
    Document document;
    document.uri = uri_of(path);
    document.path = path;
    document.text = std::move(text);
    texts_[path] = document.text;
    // A request that is cancelled ends within.
    struct Erasure {
        ide::Texts& texts;
        const std::string& path;
        ~Erasure() { texts.erase(path); }
    } erasure{texts_, path};
    analyse(document);
    visit(document);
}

void State::with_file(std::string_view uri, const Visit& visit) {
    if (const Document* open = document(uri)) {
        visit(*open);
        return;
    }
    std::string path = path_of(uri);
    if (Result<std::string> text = ide::script_text(path); text.ok()) {
        visit_text(path, std::move(*text), visit);
    }
}

void State::each_file_with(std::string_view word, const Visit& visit) {
    for (auto& [path, document] : documents_) {
        if (document.text.find(word) != std::string::npos) {
            analyse(document);
            visit(document);
        }
    }
    for (auto& [path, text] : ide::scripts_with(roots, word)) {
        if (documents_.count(path) == 0) {
            visit_text(path, std::move(text), visit);
        }
    }
}

Result<std::string> State::graph(std::string_view uri, const std::string& name) {
    const Document* found = document(uri);
    return found == nullptr ? Error{"the document is not open"}
                            : ide::graph_json(texts_, found->path, name, settings_.of(found->path));
}

Json State::place(const Document& document, uint32_t offset) const {
    return place(*document.lines, offset < document.begin ? 0 : offset - document.begin);
}

Json State::place(const ide::LineTable& lines, uint32_t offset) const {
    ide::Place place = lines.place(offset, encoding);
    return Json::object({{"line", place.line}, {"character", place.character}});
}

Json State::range(const Document& document, ide::Range range) const {
    return Json::object(
        {{"start", place(document, range.begin)}, {"end", place(document, range.end)}});
}

Json State::range(const ide::LineTable& lines, ide::Range range) const {
    return Json::object({{"start", place(lines, range.begin)}, {"end", place(lines, range.end)}});
}

uint32_t State::offset(const Document& document, const Json& place) const {
    // A notebook may be named as a file, too: its text is another.
    auto most = static_cast<uint32_t>(document.analysis->text().size());
    return std::min(document.begin + offset_in(*document.lines, place, encoding), most);
}

Json State::location(const Document& document, ide::Range range) const {
    const Document* holder = &document;
    auto notebook = notebooks_.find(document.path);
    if (notebook != notebooks_.end() && !document.holds(range.begin)) {
        for (const std::string& uri : notebook->second) {
            auto cell = documents_.find(path_of(uri));
            bool is_it = cell != documents_.end() && cell->second.analysis == document.analysis &&
                         cell->second.holds(range.begin);
            holder = is_it ? &cell->second : holder;
        }
    }
    return Json::object({{"uri", holder->uri}, {"range", this->range(*holder, range)}});
}

Json State::location(const std::string& path, std::string_view text, ide::Range range) const {
    for (const auto& [key, document] : documents_) {
        if (document.path == path && document.analysis != nullptr) {
            return location(document, range);
        }
    }
    auto open = documents_.find(path);
    ide::LineTable lines(text);
    return Json::object({{"uri", open == documents_.end() ? uri_of(path) : open->second.uri},
                         {"range", this->range(lines, range)}});
}

std::string State::file_of(std::string_view uri) const {
    std::string path = path_of(uri);
    auto found = documents_.find(path);
    return found == documents_.end() ? path : found->second.path;
}

}  // namespace sardonyx::lsp
