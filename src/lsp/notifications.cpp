#include "lsp/notifications.h"

#include <algorithm>

namespace sardonyx::lsp {
namespace {

void open_item(State& state, const Json& item) {
    state.open(item["uri"].text(), item["version"].integer(), std::string(item["text"].text()));
}

// The URIs of the code cells.
std::vector<std::string> code_cells(const Json& cells) {
    constexpr int64_t kCode = 2;
    std::vector<std::string> uris;
    for (const Json& cell : cells.items()) {
        // The others keep their places, without a name.
        uris.emplace_back(cell["kind"].integer() == kCode ? cell["document"].text()
                                                          : std::string_view());
    }
    return uris;
}

void change_structure(State& state, std::string_view notebook, const Json& structure,
                      Closed& closed) {
    std::vector<std::string> cells = state.cells(notebook);
    const Json& array = structure["array"];
    auto clamp = [](int64_t number, size_t most) {
        return std::clamp<int64_t>(number, 0, static_cast<int64_t>(most));
    };
    int64_t start = clamp(array["start"].integer(), cells.size());
    int64_t count =
        clamp(array["deleteCount"].integer(), cells.size() - static_cast<size_t>(start));
    cells.erase(cells.begin() + start, cells.begin() + start + count);
    std::vector<std::string> added = code_cells(array["cells"]);
    cells.insert(cells.begin() + start, added.begin(), added.end());
    for (const Json& one : structure["didClose"].items()) {
        if (state.has(one["uri"].text())) {
            state.close(one["uri"].text());
            closed.emplace_back(one["uri"].text());
        }
    }
    state.arrange(notebook, std::move(cells));
    for (const Json& one : structure["didOpen"].items()) {
        open_item(state, one);
    }
}

}  // namespace

Closed opened(State& state, const Json& parameters) {
    open_item(state, parameters["textDocument"]);
    return {};
}

Closed changed(State& state, const Json& parameters) {
    const Json& document = parameters["textDocument"];
    state.change(document["uri"].text(), document["version"].integer(),
                 parameters["contentChanges"]);
    return {};
}

Closed closed(State& state, const Json& parameters) {
    std::string uri(parameters["textDocument"]["uri"].text());
    if (!state.has(uri)) {
        return {};
    }
    state.close(uri);
    return {std::move(uri)};
}

Closed notebook_opened(State& state, const Json& parameters) {
    const Json& notebook = parameters["notebookDocument"];
    state.arrange(notebook["uri"].text(), code_cells(notebook["cells"]));
    for (const Json& one : parameters["cellTextDocuments"].items()) {
        open_item(state, one);
    }
    return {};
}

Closed notebook_changed(State& state, const Json& parameters) {
    Closed closed;
    std::string_view notebook = parameters["notebookDocument"]["uri"].text();
    const Json& cells = parameters["change"]["cells"];
    if (cells["structure"].is_object()) {
        change_structure(state, notebook, cells["structure"], closed);
    }
    for (const Json& one : cells["textContent"].items()) {
        const Json& document = one["document"];
        state.change(document["uri"].text(), document["version"].integer(), one["changes"]);
    }
    return closed;
}

Closed notebook_closed(State& state, const Json& parameters) {
    return state.close_notebook(parameters["notebookDocument"]["uri"].text());
}

Closed files_changed(State& state, const Json&) {
    state.forget_analyses();
    return {};
}

Closed folders_changed(State& state, const Json& parameters) {
    const Json& event = parameters["event"];
    for (const Json& folder : event["removed"].items()) {
        auto gone =
            std::remove(state.roots.begin(), state.roots.end(), path_of(folder["uri"].text()));
        state.roots.erase(gone, state.roots.end());
    }
    for (const Json& folder : event["added"].items()) {
        state.roots.push_back(path_of(folder["uri"].text()));
    }
    return {};
}

}  // namespace sardonyx::lsp
