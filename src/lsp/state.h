// What the server holds between messages: the open documents, and what is known of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ide/answers.h"
#include "ide/text.h"
#include "lsp/json.h"

namespace sardonyx::lsp {

struct Document {
    std::string uri;
    int64_t version = 0;
    std::unique_ptr<ide::Analysis> analysis;  // null: not made since the last change
    std::unique_ptr<ide::LineTable> lines;    // of the text of the analysis
    bool is_told = false;                     // its findings have been published
};

class State {
  public:
    explicit State(ide::Settings settings) : settings_(std::move(settings)) {}

    ide::Encoding encoding = ide::Encoding::kUtf16;

    void open(std::string_view uri, int64_t version, std::string text);
    // Changes as `didChange` has them, one after the other.
    void change(std::string_view uri, int64_t version, const Json& changes);
    void close(std::string_view uri);

    bool has(std::string_view uri) const;
    // The document, analysed; null: it is not open.
    const Document* document(std::string_view uri);
    // One whose findings have not been published since its last change; null: there is none.
    Document* next_untold();

    // Places of an analysed document in the editor's words.
    Json place(const Document& document, uint32_t offset) const;
    Json place(const ide::LineTable& lines, uint32_t offset) const;
    Json range(const Document& document, ide::Range range) const;
    uint32_t offset(const Document& document, const Json& place) const;

  private:
    void forget_analyses();
    void analyse(const std::string& path, Document& document);

    ide::Settings settings_;
    std::map<std::string, Document> documents_;  // by path
    ide::Texts texts_;                           // the same
};

// "file:///a%20b.py" is "/a b.py"; what is no file stays as it is.
std::string path_of(std::string_view uri);
std::string uri_of(std::string_view path);

}  // namespace sardonyx::lsp
