#include "lsp/server.h"

#include "lsp/requests.h"

namespace sardonyx::lsp {
namespace {

// The codes of JSON-RPC 2.0, section 5.1, and of LSP 3.17, "errorCodes".
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kServerNotInitialized = -32002;

struct RequestRow {
    std::string_view method;
    Json (*answer)(const State& state, const Document& document, const Json& parameters);
};

constexpr RequestRow kRequests[] = {
    {"textDocument/codeAction", code_actions},
    {"textDocument/completion", completion},
    {"textDocument/definition", definition_answer},
    {"textDocument/diagnostic", diagnostics_report},
    {"textDocument/documentHighlight", highlights},
    {"textDocument/documentSymbol", document_symbols},
    {"textDocument/hover", hover_answer},
    {"textDocument/inlayHint", inlay_hints},
    {"textDocument/prepareRename", prepared_rename},
    {"textDocument/references", references},
    {"textDocument/rename", rename},
    {"textDocument/signatureHelp", signature_answer},
};

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
    Json sync = Json::object({{"openClose", true}, {"change", 2}});
    Json characters = Json::array({".", "=", "\"", "'"});
    return Json::object(
        {{"positionEncoding", name},
         {"textDocumentSync", std::move(sync)},
         {"hoverProvider", true},
         {"completionProvider",
          Json::object({{"triggerCharacters", std::move(characters)}, {"resolveProvider", true}})},
         {"signatureHelpProvider", Json::object({{"triggerCharacters", Json::array({"(", ","})}})},
         {"definitionProvider", true},
         {"referencesProvider", true},
         {"documentHighlightProvider", true},
         {"renameProvider", Json::object({{"prepareProvider", true}})},
         {"inlayHintProvider", true},
         {"documentSymbolProvider", true},
         {"codeActionProvider", Json::object({{"codeActionKinds", Json::array({"quickfix"})}})},
         {"diagnosticProvider",
          Json::object({{"interFileDependencies", true}, {"workspaceDiagnostics", false}})}});
}

}  // namespace

void Server::receive(std::string_view message, Messages& out) {
    std::optional<Json> read = read_json(message);
    if (!read) {
        out.push_back(failure({}, kParseError, "the message is not JSON"));
        return;
    }
    const Json& id = (*read)["id"];
    const Json& method = (*read)["method"];
    if (!read->is_object() || !method.is_string()) {
        bool is_response = read->is_object() && !id.is_null();
        if (!is_response) {  // an answer to a request of ours needs none
            out.push_back(failure({}, kInvalidRequest, "the message is not a request"));
        }
        return;
    }
    const Json& parameters = (*read)["params"];
    if (id.is_null()) {
        notify(method.text(), parameters, out);
    } else {
        request(id, method.text(), parameters, out);
    }
}

void Server::request(const Json& id, std::string_view method, const Json& parameters,
                     Messages& out) {
    if (method == "initialize") {
        out.push_back(response(id, initialize(parameters)));
        return;
    }
    if (!is_initialized_ || is_shut_down_) {
        bool is_early = !is_initialized_;
        out.push_back(failure(id, is_early ? kServerNotInitialized : kInvalidRequest,
                              is_early ? "`initialize` comes first" : "the server is shut down"));
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
    out.push_back(failure(id, kMethodNotFound, "there is no method `" + std::string(method) + "`"));
}

void Server::notify(std::string_view method, const Json& parameters, Messages& out) {
    const Json& document = parameters["textDocument"];
    std::string_view uri = document["uri"].text();
    if (method == "exit") {
        exit_status_ = is_shut_down_ ? 0 : 1;
    } else if (!is_initialized_ || is_shut_down_) {
        return;
    } else if (method == "textDocument/didOpen") {
        state_.open(uri, document["version"].integer(), std::string(document["text"].text()));
    } else if (method == "textDocument/didChange") {
        state_.change(uri, document["version"].integer(), parameters["contentChanges"]);
    } else if (method == "textDocument/didClose" && state_.has(uri)) {
        state_.close(uri);
        Json nothing = Json::object({{"uri", uri}, {"diagnostics", Json::array()}});
        out.push_back(Json::object({{"jsonrpc", "2.0"},
                                    {"method", "textDocument/publishDiagnostics"},
                                    {"params", std::move(nothing)}})
                          .write());
    }
}

Json Server::initialize(const Json& parameters) {
    is_initialized_ = true;
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
    out.push_back(Json::object({{"jsonrpc", "2.0"},
                                {"method", "textDocument/publishDiagnostics"},
                                {"params", std::move(parameters)}})
                      .write());
    return true;
}

}  // namespace sardonyx::lsp
