// textDocument/prepareRename and textDocument/rename: of variables of functions, of parameters with
// the keywords that name them, and of members of classes, in the files that are open and those of
// the roots. Null, which leaves the name to other servers: it is another one.
#include "ide/shared_names.h"
#include "lsp/requests.h"
#include "lsp/workspace_edit.h"

namespace sardonyx::lsp {
namespace {

// Functions and classes may be imported by another name, and `__call__` is Python's.
bool can_change(const ide::SharedName& name) {
    std::string_view text = name.name;
    bool is_special =
        text.size() > 4 && text.substr(0, 2) == "__" && text.substr(text.size() - 2) == "__";
    return name.kind != ide::NameKind::kDefinition && !is_special;
}

std::string file_name(const Document& document) {
    return document.path.substr(document.path.find_last_of('/') + 1);
}

// "b.py:12"
std::string line_of(const State& state, const Document& document, ide::Range range) {
    Json start = state.location(document, range)["range"]["start"];
    return file_name(document) + ":" + std::to_string(start["line"].integer() + 1);
}

// Adds the changes of one file; an error where it shows that the name cannot be changed.
Result<void> add_changes(const State& state, const Document& document, const ide::SharedName& name,
                         std::string_view new_name, Changes& changes) {
    if (std::optional<std::string> reason = ide::obstacle(*document.analysis, name, new_name)) {
        return Error{file_name(document) + ": " + *reason};
    }
    ide::SharedUses found = ide::uses_of(*document.analysis, name);
    if (!found.unknown.empty()) {
        return Error{"`" + name.name + "` in " + line_of(state, document, found.unknown.front()) +
                     " may be this name or another one: what stands before it is of no known class "
                     "(annotate it, or rename by hand)"};
    }
    for (const ide::Use& one : found.uses) {
        if (document.holds(one.range.begin)) {
            add_change(state, document, one.range, new_name, changes);
        }
    }
    return {};
}

Result<Json> renamed_everywhere(State& state, const ide::SharedName& name,
                                std::string_view new_name) {
    Changes changes;
    Result<void> result;
    auto visit = [&](const Document& document) {
        if (result.ok()) {
            result = add_changes(state, document, name, new_name, changes);
        }
    };
    state.each_file_with(name.name, visit);
    SDX_TRY(result);
    return edit_of(std::move(changes));
}

}  // namespace

Json prepared_rename(const State& state, const Document& document, const Json& parameters) {
    uint32_t offset = state.offset(document, parameters["position"]);
    std::optional<ide::NameUses> found = ide::uses_at(*document.analysis, offset);
    std::vector<ide::Use> uses;
    if (found && found->is_variable && found->is_whole) {
        uses = std::move(found->uses);
    } else if (std::optional<ide::SharedName> name =
                   ide::shared_name_at(*document.analysis, offset);
               name && can_change(*name)) {
        uses = ide::uses_of(*document.analysis, *name).uses;
    }
    for (const ide::Use& one : uses) {
        if (one.range.begin <= offset && offset <= one.range.end) {
            return state.range(document, one.range);
        }
    }
    return {};
}

Result<Json> rename(State& state, const Json& parameters) {
    const Document* document = state.document(parameters["textDocument"]["uri"].text());
    if (document == nullptr) {
        return Error{"the document is not open"};
    }
    uint32_t offset = state.offset(*document, parameters["position"]);
    std::string_view new_name = parameters["newName"].text();
    std::optional<ide::SharedName> shared = ide::shared_name_at(*document->analysis, offset);
    std::optional<ide::NameUses> found = ide::uses_at(*document->analysis, offset);
    bool is_variable = found && found->is_variable && found->is_whole;
    bool is_shared = shared && can_change(*shared);
    if (!is_variable && !is_shared) {
        return Json();
    }
    if (!ide::is_name(new_name)) {
        return Error{"`" + std::string(new_name) + "` cannot be a name"};
    }
    if (is_shared) {
        return renamed_everywhere(state, *shared, new_name);
    }
    if (std::optional<std::string> reason = ide::obstacle(*found, new_name)) {
        return Error{*reason};
    }
    Changes changes;
    for (const ide::Use& one : found->uses) {
        add_change(state, *document, one.range, new_name, changes);
    }
    return edit_of(std::move(changes));
}

}  // namespace sardonyx::lsp
