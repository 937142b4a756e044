// The state of one elaboration. Data only; behaviour is in the free functions of the files named
// for their topic: expressions, operators, calls, subscripts, statements, control flow, functions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/symbol_map.h"
#include "diagnostics/diagnostic.h"
#include "elaborate/diagnostics.h"
#include "elaborate/objects/changes.h"
#include "elaborate/objects/dims.h"
#include "elaborate/objects/program.h"
#include "infer/call_cache.h"

namespace sardonyx::elaborate {

// The locals of one activation of a function. Changes made inside a branch are logged, so that the
// two branches of a tensor-valued `if` start from the same state and can be compared.
class Scope {
  public:
    Scope(const ScriptFunction* function, std::shared_ptr<Scope> enclosing)
        : function(function), enclosing(std::move(enclosing)) {}

    const ScriptFunction* const function;    // whose tree the symbols belong to
    const std::shared_ptr<Scope> enclosing;  // of a nested function; null: the environment is next

    // Null: it has none. The pointer holds until a name is set.
    const Object* find(Symbol name) const { return values_.find(name); }
    void set(Symbol name, Object value) {
        auto [place, is_new] = values_.try_emplace(name);
        if (open_marks_ > 0) {
            log_.push_back({name, is_new ? std::nullopt : std::optional(std::move(*place))});
        }
        *place = std::move(value);
    }

    struct Change {
        Symbol name;
        std::optional<Object> before;  // nothing: it was not there
    };
    // In no order.
    const SymbolMap<Object>& values() const { return values_; }

    // Starts logging; returns the mark for changes() and undo().
    size_t open() {
        ++open_marks_;
        return log_.size();
    }
    // The names changed since the mark, each once, in the order of their first change.
    std::vector<Symbol> changed(size_t mark) const;
    // Puts everything back as it was at the mark and stops logging for it.
    void undo(size_t mark);
    // Keeps the changes and stops logging for the mark.
    void keep() {
        if (--open_marks_ == 0) {
            log_.clear();
        }
    }

    // Breaks the circle of a scope and the functions in it that close over it.
    void clear() {
        values_.clear();
        log_.clear();
    }
    bool is_closed_over = false;
    // Of the top level of a file: the scope that functions close over in its place. It is empty, so
    // that they read the file's names as those of other environments.
    std::shared_ptr<Scope> closed_in_place;
    // Of a comprehension: the graph that it runs in. `:=` in it binds in the scope around.
    const ir::Graph* comprehension = nullptr;
    std::shared_ptr<Scope> around;
    bool may_have_ended = false;  // a tensor's value has decided whether it goes on
    // Of an activation: the graph that it began in, and the parameters of its function.
    const ir::Graph* home = nullptr;
    const syntax::Parameters* parameters = nullptr;
    const Namespace* of_class = nullptr;  // that the functions which close over it are methods of

  private:
    SymbolMap<Object> values_;
    std::vector<Change> log_;
    int open_marks_ = 0;
};

// A nested function or lambda together with the scope that it closes over.
struct Closure {
    const syntax::FunctionDefStmt* definition = nullptr;
    const syntax::LambdaExpr* lambda = nullptr;
    std::shared_ptr<Scope> scope;
    std::vector<Object> defaults;  // of its parameters, made at the definition; error: none
    std::string name;              // its `__name__` since `functools.wraps`; empty: as defined
};

class Namespace;

// A class of exceptions: one that is built into Python, or one of a file that is derived from it.
struct ExceptionType {
    std::string_view builtin;        // empty: the class is not known
    const Namespace* own = nullptr;  // the class of the file; null: it is the builtin one
    Object instance = {};            // the exception itself; the error object: it is not known
};

// How a statement or block ended.
enum class Jump : uint8_t { kNone, kBreak, kContinue, kReturn };

// What a function or model being built shares over all of its activations and subgraphs.
struct Unit {
    const ScriptFunction* function = nullptr;  // null: an expression outside of functions
    const Unit* caller = nullptr;              // of a function; null: a model, or nobody
    ir::Graph* graph = nullptr;                // the outermost
    std::vector<ir::OpsetImport> imports;
    std::vector<diagnostics::Span> import_spans;  // of each, where it was first used
    OpsetObject python_opset{"", 0};  // of Python's operators; version 0: not settled yet
    bool is_function = false;         // attribute parameters stay references
    std::vector<const ir::Value*> optional_inputs;  // that a caller yet unknown may leave out
    DimBindings dims;
};

// A name that has a value after a loop only if the loop has run.
struct PossiblyUnbound {
    Object value;             // the name is bound to another one: it is bound again
    diagnostics::Span loop;   // what may have run zero times
    size_t place = SIZE_MAX;  // in the list of findings, where it has been said
};

// A name without a value that has been read, of which later reads say nothing new.
struct UnboundSaid {
    diagnostics::Span where;  // what left it without a value
    size_t place = SIZE_MAX;  // in the list of findings
};

// What a room remembers for the time of an elaboration, of a type that only the room knows: made
// when it is first asked for there.
template <typename T>
class Memory {
  public:
    T& operator*() const {
        if (data_ == nullptr) {
            data_ = std::make_shared<T>();
        }
        return *data_;
    }
    T* operator->() const { return &**this; }

  private:
    mutable std::shared_ptr<T> data_;
};

struct Globals;           // of scopes/lookup.h
struct TextFacts;         // of flow/text_facts.h
struct ConstantPool;      // of emit/constant_pool.h
struct OwnerTable;        // of objects/owners.h
struct ScriptMemory;      // of script_memory.h
struct InlinedFunctions;  // of calls.cpp
struct LoopMemos;         // of graph_loop.cpp
struct MemberCells;       // of scopes/cells.cpp

struct Context {
    Context(Program& program, const Options& options, ir::Model& model)
        : program(program), options(options), model(model), depth(program.depth) {}

    Program& program;
    const Options& options;
    ir::Model& model;

    // --- The function or model being built.
    Unit* unit = nullptr;
    ir::Graph* graph = nullptr;  // nodes go to its end

    // What a running `for` reads its items from as it was when the loop began.
    struct Iterated {
        const ir::Value* value;
        std::vector<Symbol> names;  // that may hold it
        syntax::Range range;
    };

    // --- The activation: one run through the body of a function.
    struct Activation {
        std::shared_ptr<Scope> scope;
        const syntax::Stmts* body = nullptr;
        Object result;               // once Jump::kReturn has been seen
        syntax::Range result_range;  // of the expression that was returned
        syntax::Range returns_at;    // the test that a return has depended on last
        int loops = 0;               // around the current statement, static or not
        // Static loops that have been found to be ended by a tensor's value.
        std::set<const syntax::Stmt*> in_graph;
        // Names that a loop has bound that may have run zero times.
        std::unordered_map<uint32_t, PossiblyUnbound> possibly_unbound;
        std::unordered_map<uint32_t, UnboundSaid> unbound_said;  // by the name
        uint32_t loop_begin = UINT32_MAX;  // where the outermost loop around begins and ends
        uint32_t loop_end = 0;
        std::vector<Iterated> iterated;
        const Activation* caller = nullptr;
        std::vector<Symbol> outer_names;      // that `global` and `nonlocal` declare
        const ir::Graph* calls_in = nullptr;  // the graph in which it calls another function
        // The call that the statement which runs consists of, but for names that it binds: nothing
        // has been evaluated before it.
        const syntax::Expr* own_call = nullptr;
        bool is_own_call = false;               // the function that it calls is called by that
        std::shared_ptr<struct Yields> yields;  // of a generator: what it has given (generators.h)
    };
    Activation at;

    // What Python would raise, while a `try` or `with` guards what is run (exceptions.h).
    struct Raising {
        size_t errors = SIZE_MAX;  // how many had been said when it began; SIZE_MAX: nothing guards
        const ir::Graph* graph = nullptr;  // in which it began
        ExceptionType type;                // of the first mistake since
        ExceptionType handled;             // of the exception whose handler runs
    };
    Raising raising;
    // Something has been raised, and nothing more happens up to the `try`.
    bool is_raising() const { return program.diagnostics.error_count() > raising.errors; }

    // The top level of a file is run: names of files change, and `global` binds them.
    bool runs_file = false;

    // --- What the rooms remember, shared by all of them.
    Memory<Globals> globals;       // values of names of files
    Memory<TextFacts> texts;       // what functions bind and read
    Memory<ConstantPool> pool;     // constants that several nodes read, and their names
    Memory<OwnerTable> owners;     // the graphs in which lists and dicts were made
    Memory<ScriptMemory> scripts;  // signatures, and functions of the model
    Memory<InlinedFunctions> inlined;
    Memory<LoopMemos> loop_memos;
    Memory<MemberCells> cells;

    // --- The state of what is being run.
    // Inputs of the loop bodies that are being run, and what they are before the first iteration.
    std::vector<std::pair<ir::Value*, ir::Value*>> loop_inputs;
    // Optional values that are known to be there in a graph (scopes/held_values.h).
    struct Held {
        ir::Value* value;
        ir::Graph* graph;
    };
    std::vector<Held> held;
    // Where the warning of its integer divisions stands, as long as it does.
    std::map<const ScriptFunction*, size_t> division_warnings;
    std::vector<Change> changes;      // of static lists and dicts, in order
    int open_trials = 0;              // trials that may still be taken back
    std::set<uint32_t> opset_offers;  // names of opsets whose import a repair would change
    int fresh_dims = 0;
    infer::CallCache calls;  // what calls of the model's functions gave
    int& depth;  // the program's: constants of files are evaluated in contexts of their own
    int64_t steps = 0;
    // Beside those of Limits: what is written down one after the other, as a program writes it that
    // exports a model, may be as long as it is.
    int64_t more_steps = 0;
    int64_t more_iterations = 0;
    int64_t iterations = 0;  // static ones, so far
    int64_t node_count = 0;
    bool knows_no_arguments = false;  // of the function that is checked: check_in_place()
    int doubtful = 0;      // branches around that are run although an error left open which one is
    bool gave_up = false;  // a limit has been exceeded: said once, stop everything

    const ScriptFunction& function() const { return *at.scope->function; }
    const syntax::Tree& tree() const { return *at.scope->function->tree; }
    diagnostics::Span span(syntax::Range range) const { return tree().span(range); }
    std::string_view text(Symbol symbol) const { return tree().names.text(symbol); }
    std::string_view source(syntax::Range range) const {
        return program.sources.text(tree().file).substr(range.begin, range.end - range.begin);
    }

    [[gnu::cold]] diagnostics::Diagnostic& report(const diagnostics::Kind& kind,
                                                  syntax::Range range, std::string message) {
        return program.diagnostics.report(kind, span(range), std::move(message));
    }
};

// Notes that a function closes over the scope, for the end of the program.
void close_over(Program& program, const std::shared_ptr<Scope>& scope);
// The scope that a function defined here closes over.
inline const std::shared_ptr<Scope>& closing_scope(const Context& c) {
    return c.at.scope->closed_in_place != nullptr ? c.at.scope->closed_in_place : c.at.scope;
}

// Counts the depth of recursion over the tree and over calls, and the steps; false past a limit,
// which is reported.
class DepthGuard {
  public:
    DepthGuard(Context& c, syntax::Range range);
    ~DepthGuard() { --c_.depth; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;
    explicit operator bool() const { return ok_; }

  private:
    Context& c_;
    bool ok_;
};

}  // namespace sardonyx::elaborate
