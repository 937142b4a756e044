// What the server holds between messages: the open documents, and what is known of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ide/answers.h"
#include "ide/folder_settings.h"
#include "ide/text.h"
#include "lsp/json.h"

namespace sardonyx::lsp {

// A text that the editor shows: a file, or a cell of a notebook.
struct Document {
    std::string uri;
    std::string path;  // of the file or the notebook
    int64_t version = 0;
    std::string text;
    // Null: not made since the last change. The cells of a notebook are one script.
    std::shared_ptr<const ide::Analysis> analysis;
    ide::Memory memory;                     // from analysis to analysis of a file
    uint32_t begin = 0;                     // of a cell in the script
    uint32_t end = UINT32_MAX;              // where the next one begins
    std::unique_ptr<ide::LineTable> lines;  // of `text`
    bool is_told = false;                   // its findings have been published

    // Whether a place of the script is in this text.
    bool holds(uint32_t offset) const { return begin <= offset && offset < end; }
};

class State {
  public:
    explicit State(ide::ServerSettings settings) : settings_(std::move(settings)) {}

    ide::Encoding encoding = ide::Encoding::kUtf16;
    std::vector<std::string> roots;  // folders whose files are the project's

    void open(std::string_view uri, int64_t version, std::string text);
    // Changes as `didChange` has them, one after the other.
    void change(std::string_view uri, int64_t version, const Json& changes);
    void close(std::string_view uri);
    // The cells of a notebook in order; each that is opened is of the notebook from then on.
    void arrange(std::string_view notebook, std::vector<std::string> cells);
    const std::vector<std::string>& cells(std::string_view notebook) const;
    // Gives the URIs of the cells, which are closed with it.
    std::vector<std::string> close_notebook(std::string_view notebook);
    // Files that are not open have changed.
    void forget_analyses();

    bool has(std::string_view uri) const;
    // The document, analysed; null: it is not open.
    const Document* document(std::string_view uri);
    // One whose findings have not been published since its last change; null: there is none.
    Document* next_untold();

    using Visit = std::function<void(const Document&)>;
    // A document, or a file that is not open; one that cannot be read is not visited.
    void with_file(std::string_view uri, const Visit& visit);
    // The documents and the files of the roots that have a word in their text.
    void each_file_with(std::string_view word, const Visit& visit);
    // A script of a document as `sardonyx view --json` writes it.
    Result<std::string> graph(std::string_view uri, const std::string& name);

    // Places of an analysed document in the editor's words.
    Json place(const Document& document, uint32_t offset) const;
    Json place(const ide::LineTable& lines, uint32_t offset) const;
    Json range(const Document& document, ide::Range range) const;
    Json range(const ide::LineTable& lines, ide::Range range) const;
    uint32_t offset(const Document& document, const Json& place) const;
    // A place of the same script, which may be in another cell: {"uri", "range"}.
    Json location(const Document& document, ide::Range range) const;
    // The same of any file with its text.
    Json location(const std::string& path, std::string_view text, ide::Range range) const;
    // The file, or the notebook, that a document is of.
    std::string file_of(std::string_view uri) const;

    // What is wrong with the settings of files, each told once.
    std::vector<std::string> take_complaints() { return settings_.take_complaints(); }

  private:
    void analyse(Document& document);
    void analyse_cells(const std::string& notebook);
    void visit_text(const std::string& path, std::string text, const Visit& visit);

    ide::FolderSettings settings_;
    std::map<std::string, Document> documents_;                  // by the paths of their URIs
    std::map<std::string, std::vector<std::string>> notebooks_;  // the URIs of cells, by path
    ide::Texts texts_;                                           // of files, and joined cells
};

// "file:///a%20b.py" is "/a b.py"; what is no file stays as it is.
std::string path_of(std::string_view uri);

}  // namespace sardonyx::lsp
