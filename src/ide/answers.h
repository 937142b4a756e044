// Answers to what editors ask, as data: each is one function of an Analysis and an offset, in a
// file of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ide/analysis.h"

namespace sardonyx::ide {

struct Hover {
    Range range;
    std::string markdown;
};
// Of operators, attributes, values, opsets and scripts.
std::optional<Hover> hover(const Analysis& analysis, uint32_t offset);

// Where a name is bound: a value of a script where it was bound last, a script in its own file.
struct Location {
    std::string path;
    std::string_view text;  // of that file, as long as the analysis lives
    Range range;
};
std::optional<Location> definition(const Analysis& analysis, uint32_t offset);

enum class ItemKind : uint8_t { kOperator, kAttribute, kWord, kVariable, kFunction, kMember };

struct Item {
    std::string label;
    ItemKind kind = ItemKind::kVariable;
    std::string detail;  // a signature, a type
    std::string insert;  // what is written in the place of the begun word
    std::string order;   // items are shown in its order
    std::string filter;  // what the begun word is compared with; empty: `insert`
    bool is_deprecated = false;
    // Of an operator, for its documentation, which comes when an item is looked at.
    std::string domain;
    int64_t version = 0;
};
struct Completion {
    Range replaced;
    std::vector<Item> items;
    bool is_incomplete = false;  // to be asked for again when more is written
};
Completion complete(const Analysis& analysis, uint32_t offset);
// The documentation of an operator as Markdown; empty: there is none.
std::string documentation(const std::string& domain, const std::string& name, int64_t version);

struct SignatureHelp {
    struct Parameter {
        uint32_t begin = 0;  // bytes of `label`
        uint32_t end = 0;
        std::string doc;
    };
    std::string label;
    std::vector<Parameter> parameters;
    int active = -1;  // none
};
std::optional<SignatureHelp> signature_help(const Analysis& analysis, uint32_t offset);

struct Symbol {
    std::string name;
    bool is_script = false;
    Range range;
    Range name_range;
};
// The functions of the file, in order, without those in functions and classes.
std::vector<Symbol> symbols(const Analysis& analysis);

enum class EntryKind : uint8_t { kClass, kMethod, kProperty, kField, kFunction, kEnumMember };

struct OutlineEntry {
    EntryKind kind = EntryKind::kFunction;
    Symbol symbol;
    std::vector<OutlineEntry> members;  // of a class
};
// Functions and classes with what they have, in order.
std::vector<OutlineEntry> outline(const Analysis& analysis);

enum class FoldKind : uint8_t { kCode, kBrackets, kImports };

struct Fold {
    Range range;  // from the end of what stays in sight; it may be of one line
    FoldKind kind = FoldKind::kCode;
};
// Blocks, what stands in brackets, long strings and runs of imports, in order.
std::vector<Fold> folds(const Analysis& analysis);

// What a name stands for, as far as colours tell it apart.
enum class NameRole : uint8_t {
    kNamespace,  // an opset, a module
    kType,       // an element type
    kFunction,   // a script or another function of the file
    kMethod,     // an operator
    kParameter,  // also before the `=` of an argument
    kVariable,
    kProperty,       // an attribute of an operator, a member
    kEnumMember,     // a word that an attribute takes
    kTypeParameter,  // the name of a dimension in an annotation
};

struct NameToken {
    Range range;
    NameRole role = NameRole::kVariable;
    bool is_declaration = false;
    bool is_deprecated = false;
};
// The names of the file in order, none within another.
std::vector<NameToken> name_tokens(const Analysis& analysis);

}  // namespace sardonyx::ide
