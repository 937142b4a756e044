// The graph in which a list or dict was made, where alone it may be changed; and those that no
// script has made, which none changes.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Lists and dicts that were made in a subgraph. An entry outlives its list, and is nobody else's.
struct OwnerTable {
    std::map<std::weak_ptr<void>, const ir::Graph*, std::owner_less<>> graphs;
    std::set<std::weak_ptr<void>, std::owner_less<>> foreign;
    // Of a list or dict those that it may be to Python, as the run decides.
    std::map<std::weak_ptr<void>, std::vector<std::weak_ptr<void>>, std::owner_less<>> chosen;
    // The same of a list that the graph makes of two.
    std::unordered_map<const ir::Value*, std::vector<std::weak_ptr<void>>> chosen_sequences;
    std::set<std::weak_ptr<void>, std::owner_less<>> in_sequences;  // the lists among these
};

// The name of the graph in which a function of a file runs as Python. It stays empty: what is made
// in it is of the graph around once that has run.
inline constexpr std::string_view kPythonGraph = "python";

// Notes that a list or dict has been made in the current graph.
void claim(Context& c, const Object& object);

// Whether it may be changed in the current graph: what a branch or loop changes must be its own.
bool is_owned(const Context& c, const Object& object);

// Whether it is one of those that a program may change: a list, a dict or an instance.
bool is_open(const Object& object);

// Whether it is one or a tuple that holds one.
bool holds_open(const Object& object);

// Whether more than so many hold a list or dict: its name, and what has been read of it.
bool is_shared(const Context& c, const Object& object, int holders = 1);

// The graph in which a list, dict or instance was made.
const ir::Graph* owner_of(const Context& c, const Object& object);
const ir::Graph* owner_of(const Context& c, const std::shared_ptr<void>& object);

// Notes that a value has been read from a file or from Python, which keep it after the compilation,
// with the lists, dicts and sets in it.
void note_foreign(Context& c, const Object& object);

// Whether a list, dict or set is such a value or part of one.
bool is_foreign(const Context& c, const Object& object);

// Notes that to Python one list, dict or instance is the other, if the run decides so: here it has
// a copy. The first may also be a list that the graph makes.
void note_choice(Context& c, const Object& one, const Object& other);
void note_choice(Context& c, const Object& one, ObjectKind kind, const std::weak_ptr<void>& other);

// Notes that what another one may be the first may be, too, where nothing holds the other any more.
void inherit_choices(Context& c, const Object& one, const Object& other);

// Those that it may be to Python, a list that the graph makes among them, and that something still
// holds.
std::vector<std::shared_ptr<void>> choices_of(const Context& c, const Object& object);

// Whether there is such another one for a list, dict or instance, which something still holds.
bool may_be_another(const Context& c, const Object& object);

}  // namespace sardonyx::elaborate
