// Walking graphs whose values get types for a while: bodies of loops, which may have to be typed
// more than once, and bodies of called functions, which are typed per call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infer/infer.h"
#include "types/dim_expression.h"

namespace sardonyx::infer {

// What inference knows of one value.
struct Knowledge {
    Type type;
    std::optional<Tensor> constant;
    std::unique_ptr<ir::SymbolicContent> content;
};

// A copy of what is known of a value. The constant of a graph input that is only a default is left
// out.
Knowledge knowledge_of(const Context& context, const ir::Value& value);
void set_knowledge(ir::Value& value, Knowledge knowledge);

// The inputs and node outputs of a graph and of the graphs in it, as they were.
class Snapshot {
  public:
    explicit Snapshot(const ir::Graph& graph);
    size_t size() const { return entries_.size(); }
    void restore() const;
    // Forgets symbols in the declared types: in a function they name sizes of no particular call.
    void drop_symbols() const;

  private:
    struct Entry {
        ir::Value* value;
        Type type;
        std::optional<Tensor> constant;
        std::shared_ptr<const ir::SymbolicContent> content;
    };
    void add(const ir::Graph& graph);
    void add(ir::Value* value);

    std::vector<Entry> entries_;
};

// The type with other dims in place of its symbols.
Type map_symbols(const Type& type, const std::function<Dim(std::string_view)>& value_of);
// The bounds of symbols that their author has stated, for a key: "s:2:512;"; empty for most types.
// Their text does not say them.
std::string stated_bounds(const Type& type);
std::string stated_bounds(const Dim& dim);
void for_each_bounded(const Type& type,
                      const std::function<void(const std::string& name, const DimBounds&)>& visit);
// The type with every symbolic dim for which `is_dropped` holds made unknown.
Type drop_symbols(const Type& type, const std::function<bool(std::string_view)>& is_dropped);
// The number n of a fresh symbol "unk__<n>"; nothing for other names.
std::optional<int> fresh_number(std::string_view symbol);
// A message with "?" for every fresh symbol: nobody has written those.
std::string without_fresh_symbols(std::string_view message);

// Takes `count` of the steps that are left; false when there are not so many.
bool take_steps(const Context& context, size_t count);

// The model-local function that a node calls; null: an operator, or unknown.
const ir::Function* called_function(const Context& context, const ir::Node& node);
std::vector<ir::Value*> inputs_of(const ir::Node& node);
// Gives a call's outputs what the function's results are; findings past the first ones were made in
// the call.
void finish_call(const Context& context, ir::Node& node, std::vector<Knowledge> results,
                 size_t earlier_findings);

// What a call of the function gives. Empty when it cannot be told (recursion, too deep).
std::vector<Knowledge> call_function(const Context& context, const ir::Function& function,
                                     std::span<ir::Value* const> inputs,
                                     std::span<const ir::Attribute> attributes);

}  // namespace sardonyx::infer
