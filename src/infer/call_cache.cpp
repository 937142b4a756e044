#include "infer/call_cache.h"

#include <array>
#include <bit>

#include "infer/node_context.h"

namespace sardonyx::infer {
namespace {

// Constants past this size do not steer shapes; they are told apart by where they are stored.
constexpr size_t kComparedBytes = 512;

template <typename T>
void append_bytes(std::string& key, const T& value) {
    // Also of pointers themselves. NOLINTNEXTLINE(bugprone-sizeof-expression)
    auto bytes = std::bit_cast<std::array<char, sizeof value>>(value);
    key.append(bytes.data(), bytes.size());
}

void append_text(std::string& key, std::string_view text) {
    append_bytes(key, text.size());
    key.append(text);
}

void append_tensor(CallKey& key, const Tensor& tensor) {
    append_text(key.text, tensor.type().to_string());
    bool is_text = tensor.element_type() == ElementType::kString;
    if (is_text || tensor.stored_bytes().size() > kComparedBytes) {
        append_bytes(key.text, is_text
                                   ? static_cast<const void*>(tensor.elements<std::string>().data())
                                   : static_cast<const void*>(tensor.stored_bytes().data()));
        key.kept.push_back(tensor);
        return;
    }
    std::span<const std::byte> bytes = tensor.stored_bytes();
    key.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void append_value(CallKey& call, const Context& context, const ir::Value* value) {
    std::string& key = call.text;
    if (value == nullptr) {
        key += '-';
        return;
    }
    append_text(key, value->type.to_string());
    append_text(key, stated_bounds(value->type));
    if (value->content != nullptr) {
        key += value->content->is_scalar ? 's' : 'v';
        for (const Dim& dim : value->content->elements) {
            append_text(key, dim.to_string());
            append_text(key, stated_bounds(dim));
        }
    }
    if (const Tensor* constant = constant_of(context, *value)) {
        key += 'c';
        append_tensor(call, *constant);
    }
}

// Writes the value of an attribute; false for those that are not compared.
struct AppendAttribute {
    CallKey& call;
    std::string& key = call.text;

    bool operator()(const std::monostate&) const { return true; }
    bool operator()(const std::string& text) const {
        append_text(key, text);
        return true;
    }
    bool operator()(const Tensor& tensor) const {
        append_tensor(call, tensor);
        return true;
    }
    bool operator()(const Type& type) const {
        append_text(key, type.to_string());
        return true;
    }
    bool operator()(float number) const { return append_number(number); }
    bool operator()(int64_t number) const { return append_number(number); }
    template <typename T>
    bool operator()(const std::vector<T>& items) const {
        append_bytes(key, items.size());
        for (const T& item : items) {
            if (!(*this)(item)) {
                return false;
            }
        }
        return true;
    }
    bool operator()(ir::Graph*) const { return false; }
    bool operator()(const ir::SparseTensor&) const { return false; }

  private:
    template <typename T>
    bool append_number(T number) const {
        append_bytes(key, number);
        return true;
    }
};

}  // namespace

CallKey call_key(const Context& context, const ir::Function& function,
                 std::span<ir::Value* const> inputs, std::span<const ir::Attribute> attributes) {
    CallKey key;
    append_bytes(key.text, &function);
    for (const ir::Value* input : inputs) {
        append_value(key, context, input);
    }
    for (const ir::Attribute& attribute : attributes) {
        const ir::Attribute* found = resolve_attribute(attribute, context.call);
        append_text(key.text, attribute.name);
        key.text += found == nullptr ? '?' : static_cast<char>('a' + static_cast<int>(found->type));
        if (found != nullptr && !std::visit(AppendAttribute{key}, found->value)) {
            return {};
        }
    }
    return key;
}

std::optional<std::vector<Knowledge>> CallCache::find(const CallKey& key, int* fresh_dims) const {
    auto found = entries_.find(key.text);
    if (found == entries_.end()) {
        return std::nullopt;
    }
    std::unordered_map<int, Dim> renamed;
    auto value_of = [&](std::string_view symbol) {
        std::optional<int> number = fresh_number(symbol);
        if (!number || *number < found->second.first_fresh || fresh_dims == nullptr) {
            return Dim::symbol(symbol);
        }
        auto [place, is_new] = renamed.try_emplace(*number);
        if (is_new) {
            place->second = fresh_dim(*fresh_dims);
        }
        return place->second;
    };
    std::vector<Knowledge> results;
    for (const Knowledge& one : found->second.results) {
        Knowledge copy{map_symbols(one.type, value_of), one.constant, nullptr};
        if (one.content != nullptr) {
            copy.content = std::make_unique<ir::SymbolicContent>(*one.content);
            for (Dim& dim : copy.content->elements) {
                dim = dim.is_symbolic() ? dim.substitute(value_of) : dim;
            }
        }
        results.push_back(std::move(copy));
    }
    return results;
}

void CallCache::add(CallKey key, const std::vector<Knowledge>& results, int first_fresh) {
    Entry entry;
    entry.first_fresh = first_fresh;
    entry.kept = std::move(key.kept);
    for (const Knowledge& one : results) {
        Knowledge copy{one.type, one.constant, nullptr};
        if (one.content != nullptr) {
            copy.content = std::make_unique<ir::SymbolicContent>(*one.content);
        }
        entry.results.push_back(std::move(copy));
    }
    entries_.insert_or_assign(std::move(key.text), std::move(entry));
}

}  // namespace sardonyx::infer
