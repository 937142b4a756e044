// The numbers of the Language Server Protocol, by the names that its specification gives them.
#pragma once

namespace sardonyx::lsp {

struct CompletionItemKind {
    enum : int {
        kMethod = 2,
        kFunction = 3,
        kField = 5,
        kVariable = 6,
        kProperty = 10,
        kEnumMember = 20
    };
};

struct CompletionItemTag {
    enum : int { kDeprecated = 1 };
};

struct DiagnosticSeverity {
    enum : int { kError = 1, kWarning = 2, kInformation = 3 };
};

struct DocumentHighlightKind {
    enum : int { kRead = 2, kWrite = 3 };
};

struct InlayHintKind {
    enum : int { kType = 1 };
};

struct SymbolKind {
    enum : int {
        kClass = 5,
        kMethod = 6,
        kProperty = 7,
        kField = 8,
        kFunction = 12,
        kEnumMember = 22
    };
};

struct TextDocumentSyncKind {
    enum : int { kIncremental = 2 };
};

}  // namespace sardonyx::lsp
