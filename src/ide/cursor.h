// Where the cursor stands, by the tokens before it: the rest of the file may be unfinished.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/token.h"

namespace sardonyx::ide {

using Range = syntax::Range;  // of bytes

// The innermost call that is open at the cursor: `op.Conv(X, W, pads=|`.
struct OpenCall {
    std::string base;  // "op", "self.layers", "super()"; "()": of something else than
                       // names; empty: a plain name is called
    std::string name;
    uint32_t argument = 0;           // number of the argument at the cursor
    std::string keyword;             // its name, where it has one
    std::vector<std::string> given;  // the names of the arguments before it
};

// What is called, as it is written: "op.Conv".
std::string names_of(const OpenCall& call);

struct Cursor {
    std::string word;         // what is written of a name
    Range replaced;           // its place
    std::string base;         // "op" behind `op.`; empty: behind something else than names
    bool is_member = false;   // behind a dot
    bool is_comment = false;  // or in the text of a string that is no argument
    bool is_string = false;   // in a string that is not closed yet; `word` is its text
    std::string module;       // in `from module import |`
    std::string subscript;    // "FLOAT" in `FLOAT["N", |`
    std::optional<OpenCall> call;
};

Cursor look_at(std::string_view text, uint32_t offset);

// The name at an offset, and what it stands behind; nothing: there is none.
struct NameAt {
    Range range;
    std::string name;
    std::string base;         // "op" in `op.Conv`, "self.cfg" in `self.cfg.width`
    bool is_member = false;   // behind a dot
    bool is_keyword = false;  // `axis` in `op.Softmax(x, axis=1)`: `call` is the operator's
    std::optional<OpenCall> call;
};
std::optional<NameAt> name_at(std::string_view text, uint32_t offset);
// The name with what it stands behind: "op.Conv".
std::string names_of(const NameAt& at);

// A name that an assignment without annotation binds.
struct AssignedName {
    uint32_t begin = 0;
    uint32_t statement_end = 0;  // it is bound from there on
};
// As far as lines show it: in `a, (b, c) = d = e` all but the last. In order.
std::vector<AssignedName> assigned_names(std::string_view text);

}  // namespace sardonyx::ide
