#include "lsp/server.h"

#include "base/stop.h"
#include "lsp/notifications.h"
#include "lsp/protocol.h"
#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

// The codes of JSON-RPC 2.0, section 5.1, and of LSP 3.17, "errorCodes".
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kServerNotInitialized = -32002;
constexpr int kRequestFailed = -32803;
constexpr int kRequestCancelled = -32800;
constexpr int kWarningMessage = 2;  // MessageType

struct RequestRow {
    std::string_view method;
    Json (*answer)(const State& state, const Document& document, const Json& parameters);
};

constexpr RequestRow kRequests[] = {
    {"textDocument/codeAction", code_actions},
    {"textDocument/codeLens", code_lenses},
    {"textDocument/completion", completion},
    {"textDocument/definition", definition_answer},
    {"textDocument/diagnostic", diagnostics_report},
    {"textDocument/documentHighlight", highlights},
    {"textDocument/documentSymbol", document_symbols},
    {"textDocument/foldingRange", folding_ranges},
    {"textDocument/hover", hover_answer},
    {"textDocument/inlayHint", inlay_hints},
    {"textDocument/prepareCallHierarchy", prepared_call_hierarchy},
    {"textDocument/prepareRename", prepared_rename},
    {"textDocument/semanticTokens/full", semantic_tokens},
    {"textDocument/semanticTokens/range", semantic_tokens_of_range},
    {"textDocument/signatureHelp", signature_answer},
};

struct ProjectRequestRow {
    std::string_view method;
    Result<Json> (*answer)(State& state, const Json& parameters);
};

constexpr ProjectRequestRow kProjectRequests[] = {
    {"callHierarchy/incomingCalls", incoming_calls},
    {"callHierarchy/outgoingCalls", outgoing_calls},
    {"sardonyx/graph", graph},
    {"textDocument/references", references},
    {"textDocument/rename", rename},
};

struct NotificationRow {
    std::string_view method;
    Closed (*take)(State& state, const Json& parameters);
};

constexpr NotificationRow kNotifications[] = {
    {"notebookDocument/didChange", notebook_changed},
    {"notebookDocument/didClose", notebook_closed},
    {"notebookDocument/didOpen", notebook_opened},
    {"notebookDocument/didSave", files_changed},
    {"textDocument/didChange", changed},
    {"textDocument/didClose", closed},
    {"textDocument/didOpen", opened},
    {"textDocument/didSave", files_changed},
    {"workspace/didChangeWatchedFiles", files_changed},
    {"workspace/didChangeWorkspaceFolders", folders_changed},
};

std::string notification(std::string_view method, Json parameters) {
    return Json::object({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(parameters)}})
        .write();
}

std::string response(const Json& id, Json result) {
    return Json::object({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}).write();
}

std::string failure(const Json& id, int code, std::string_view message) {
    Json error = Json::object({{"code", code}, {"message", message}});
    return Json::object({{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}}).write();
}

Json capabilities(ide::Encoding encoding) {
    std::string_view name = encoding == ide::Encoding::kUtf8    ? "utf-8"
                            : encoding == ide::Encoding::kUtf32 ? "utf-32"
                                                                : "utf-16";
    Json sync = Json::object(
        {{"openClose", true}, {"change", int{TextDocumentSyncKind::kIncremental}}, {"save", true}});
    Json cells = Json::array({Json::object({{"language", "python"}})});
    Json notebooks = Json::object(
        {{"notebookSelector", Json::array({Json::object({{"cells", std::move(cells)}})})},
         {"save", true}});
    Json folders = Json::object({{"supported", true}, {"changeNotifications", true}});
    Json characters = Json::array({".", "=", "\"", "'"});
    return Json::object(
        {{"positionEncoding", name},
         {"textDocumentSync", std::move(sync)},
         {"notebookDocumentSync", std::move(notebooks)},
         {"workspace", Json::object({{"workspaceFolders", std::move(folders)}})},
         {"hoverProvider", true},
         {"completionProvider",
          Json::object({{"triggerCharacters", std::move(characters)}, {"resolveProvider", true}})},
         {"signatureHelpProvider", Json::object({{"triggerCharacters", Json::array({"(", ","})}})},
         {"definitionProvider", true},
         {"referencesProvider", true},
         {"documentHighlightProvider", true},
         {"renameProvider", Json::object({{"prepareProvider", true}})},
         {"inlayHintProvider", true},
         {"callHierarchyProvider", true},
         {"codeLensProvider", Json::object({{"resolveProvider", false}})},
         {"documentSymbolProvider", true},
         {"foldingRangeProvider", true},
         {"semanticTokensProvider",
          Json::object({{"legend", semantic_tokens_legend()}, {"full", true}, {"range", true}})},
         {"codeActionProvider", Json::object({{"codeActionKinds", Json::array({"quickfix"})}})},
         {"diagnosticProvider",
          Json::object({{"interFileDependencies", true}, {"workspaceDiagnostics", false}})}});
}

}  // namespace

void Server::receive(std::string_view message) {
    std::optional<Json> read = read_json(message);
    bool is_cancel = read && (*read)["method"].text() == "$/cancelRequest";
    if (is_cancel) {
        cancel((*read)["params"]["id"]);
    } else {
        waiting_.push_back({std::move(read)});
    }
}

// Of a request that is answered already, nothing is left to do.
void Server::cancel(const Json& id) {
    std::string wanted = id.write();
    for (Waiting& one : waiting_) {
        bool is_it = one.message && !id.is_null() && (*one.message)["id"].write() == wanted;
        one.is_cancelled = one.is_cancelled || is_it;
    }
    is_running_cancelled_ = is_running_cancelled_ || (!running_.empty() && wanted == running_);
}

bool Server::answer_next(Messages& out, const Look& look) {
    if (waiting_.empty()) {
        return false;
    }
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    if (next.message) {
        take(*next.message, next.is_cancelled, look, out);
    } else {
        out.push_back(failure({}, kParseError, "the message is not JSON"));
    }
    for (const std::string& one : state_.take_complaints()) {
        out.push_back(notification("window/showMessage",
                                   Json::object({{"type", kWarningMessage}, {"message", one}})));
    }
    return true;
}

void Server::take(const Json& message, bool is_cancelled, const Look& look, Messages& out) {
    const Json& id = message["id"];
    const Json& method = message["method"];
    if (!message.is_object() || !method.is_string()) {
        bool is_response = message.is_object() && !id.is_null();
        if (!is_response) {  // an answer to a request of ours needs none
            out.push_back(failure({}, kInvalidRequest, "the message is not a request"));
        }
    } else if (id.is_null()) {
        notify(method.text(), message["params"], out);
    } else if (is_cancelled) {
        out.push_back(failure(id, kRequestCancelled, "the request was cancelled"));
    } else {
        answer_while_wanted(message, look, out);
    }
}

// Work that ends before its end leaves the state as it was (base/stop.h): the next request that
// needs the same begins it again.
void Server::answer_while_wanted(const Json& message, const Look& look, Messages& out) {
    const Json& id = message["id"];
    running_ = id.write();
    is_running_cancelled_ = false;
    auto question = [&] {
        if (!is_running_cancelled_ && look) {
            look();
        }
        return is_running_cancelled_;
    };
    StopScope scope([](void* data) { return (*static_cast<decltype(question)*>(data))(); },
                    &question);
    try {
        request(id, message["method"].text(), message["params"], out);
    } catch (const Stopped&) {
        out.push_back(failure(id, kRequestCancelled, "the request was cancelled"));
    }
    running_.clear();
}

void Server::request(const Json& id, std::string_view method, const Json& parameters,
                     Messages& out) {
    if (method == "initialize" && !is_initialized_) {
        out.push_back(response(id, initialize(parameters)));
        return;
    }
    if (!is_initialized_ || is_shut_down_) {
        bool is_early = !is_initialized_;
        out.push_back(failure(id, is_early ? kServerNotInitialized : kInvalidRequest,
                              is_early ? "`initialize` comes first" : "the server is shut down"));
        return;
    }
    if (method == "initialize") {
        out.push_back(failure(id, kInvalidRequest, "the server is initialized already"));
        return;
    }
    if (method == "shutdown") {
        is_shut_down_ = true;
        out.push_back(response(id, {}));
        return;
    }
    if (method == "completionItem/resolve") {
        out.push_back(response(id, resolved_item(parameters)));
        return;
    }
    for (const RequestRow& row : kRequests) {
        if (row.method == method) {
            std::string_view uri = parameters["textDocument"]["uri"].text();
            const Document* document = state_.document(uri);
            out.push_back(document == nullptr
                              ? failure(id, kInvalidParams, "the document is not open")
                              : response(id, row.answer(state_, *document, parameters)));
            return;
        }
    }
    for (const ProjectRequestRow& row : kProjectRequests) {
        if (row.method == method) {
            Result<Json> answer = row.answer(state_, parameters);
            out.push_back(answer.ok() ? response(id, std::move(*answer))
                                      : failure(id, kRequestFailed, answer.error().message));
            return;
        }
    }
    out.push_back(failure(id, kMethodNotFound, "there is no method `" + std::string(method) + "`"));
}

void Server::notify(std::string_view method, const Json& parameters, Messages& out) {
    if (method == "exit") {
        exit_status_ = is_shut_down_ ? 0 : 1;
        return;
    }
    for (const NotificationRow& row : kNotifications) {
        if (row.method != method || !is_initialized_ || is_shut_down_) {
            continue;
        }
        for (const std::string& uri : row.take(state_, parameters)) {
            Json nothing = Json::object({{"uri", uri}, {"diagnostics", Json::array()}});
            out.push_back(notification("textDocument/publishDiagnostics", std::move(nothing)));
        }
        return;
    }
}

Json Server::initialize(const Json& parameters) {
    is_initialized_ = true;
    for (const Json& folder : parameters["workspaceFolders"].items()) {
        state_.roots.push_back(path_of(folder["uri"].text()));
    }
    if (state_.roots.empty() && parameters["rootUri"].is_string()) {
        state_.roots.push_back(path_of(parameters["rootUri"].text()));
    }
    const Json& client = parameters["capabilities"];
    pulls_ = client["textDocument"]["diagnostic"].is_object();
    for (const Json& one : client["general"]["positionEncodings"].items()) {
        if (one.text() == "utf-8" || one.text() == "utf-32") {
            state_.encoding = one.text() == "utf-8" ? ide::Encoding::kUtf8 : ide::Encoding::kUtf32;
            break;
        }
        if (one.text() == "utf-16") {
            break;  // the client's order is its preference
        }
    }
    return Json::object({{"capabilities", capabilities(state_.encoding)},
                         {"serverInfo", Json::object({{"name", "sardonyx"}})}});
}

bool Server::publish_next(Messages& out) {
    Document* document = pulls_ ? nullptr : state_.next_untold();
    if (document == nullptr) {
        return false;
    }
    Json parameters = Json::object({{"uri", document->uri},
                                    {"version", document->version},
                                    {"diagnostics", diagnostics_of(state_, *document)}});
    out.push_back(notification("textDocument/publishDiagnostics", std::move(parameters)));
    return true;
}

}  // namespace sardonyx::lsp
