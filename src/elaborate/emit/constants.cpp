// Constants of the graph: nodes, or initializers, of which equal ones are one.
#include "elaborate/emit/constants.h"

#include <algorithm>
#include <span>
#include <utility>

#include "elaborate/emit/constant_pool.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/objects/context.h"
#include "infer/infer.h"
#include "ops/ops.h"

namespace sardonyx::elaborate {

namespace {

bool has_bytes(const Tensor& tensor, size_t least) {
    return tensor.element_type() != ElementType::kString && tensor.bytes().size() >= least;
}

// The bytes from which on an array with a name is an initializer. One without elements never is.
size_t least_bytes(const Context& c, NamedBy by) {
    size_t asked = std::min(c.pool->initializer_bytes, kInitializerBytes);
    return by == NamedBy::kKey ? 1 : std::max<size_t>(asked, 1);
}

// Whether it becomes an initializer: smaller arrays do where they have a key, or the script asks
// for it, but never what has no name, such as literals.
bool is_initializer(const Context& c, const Tensor& tensor) {
    if (has_bytes(tensor, kInitializerBytes)) {
        return true;
    }
    auto named = has_bytes(tensor, 1) ? c.pool->array_names.find(tensor.bytes().data())
                                      : c.pool->array_names.end();
    return named != c.pool->array_names.end() &&
           has_bytes(tensor, least_bytes(c, named->second.by));
}

// Of the type, the dims and both ends of the elements: files of weights are not read through.
size_t fingerprint(const Tensor& tensor) {
    constexpr size_t kEnd = 256;
    std::span<const std::byte> bytes = tensor.bytes();
    size_t hash = 14695981039346656037ULL;
    auto mix = [&hash](size_t value) { hash = (hash ^ value) * 1099511628211ULL; };
    mix(static_cast<size_t>(tensor.element_type()));
    for (int64_t dim : tensor.dims()) {
        mix(static_cast<size_t>(dim));
    }
    size_t count = std::min(kEnd, bytes.size());
    for (std::span<const std::byte> end : {bytes.first(count), bytes.last(count)}) {
        for (std::byte byte : end) {
            mix(static_cast<size_t>(byte));
        }
    }
    return hash;
}

bool is_same(const Tensor& a, const Tensor& b) {
    if (a.element_type() != b.element_type() || a.dims() != b.dims()) {
        return false;
    }
    std::span<const std::byte> left = a.bytes(), right = b.bytes();
    return left.data() == right.data() || std::equal(left.begin(), left.end(), right.begin());
}

ir::Value* shared_initializer(Context& c, Tensor tensor) {
    size_t key = fingerprint(tensor);
    auto [begin, end] = c.pool->initializers.equal_range(key);
    for (auto at = begin; at != end; ++at) {
        if (is_same(*at->second->constant, tensor)) {
            return at->second;
        }
    }
    ir::Value* value = c.model.add_initializer(c.unit->graph, "", std::move(tensor));
    c.pool->initializers.emplace(key, value);
    return value;
}

}  // namespace

ir::Value* shared_constant(Context& c, Tensor tensor, syntax::Range range) {
    if (tensor.element_type() == ElementType::kString || has_bytes(tensor, kInitializerBytes)) {
        return emit_constant(c, std::move(tensor), range);
    }
    std::span<const std::byte> bytes = tensor.bytes();
    SmallConstant key{c.graph, tensor.element_type(), tensor.dims(),
                      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
    ir::Value*& place = c.pool->small[std::move(key)];
    if (place == nullptr) {
        place = emit_constant(c, std::move(tensor), range);
    }
    return place;
}

void name_array(Context& c, const Object& object, std::string_view name, NamedBy by) {
    if (object.is(ObjectKind::kConstant) && has_bytes(object.get<Tensor>(), least_bytes(c, by))) {
        const Tensor& tensor = object.get<Tensor>();
        c.pool->array_names.try_emplace(tensor.bytes().data(),
                                        NamedArray{tensor, std::string(name), by});
    }
}

void name_part(Context& c, const Object& part, const Object& whole) {
    auto named = whole.is(ObjectKind::kConstant)
                     ? c.pool->array_names.find(whole.get<Tensor>().bytes().data())
                     : c.pool->array_names.end();
    if (named != c.pool->array_names.end()) {
        name_array(c, part, named->second.name, NamedBy::kVariable);
    }
}

void name_initializers(Context& c) {
    for (const auto& [key, value] : c.pool->initializers) {
        auto named = c.pool->array_names.find(value->constant->bytes().data());
        if (named != c.pool->array_names.end()) {
            value->name = c.model.intern(named->second.name);
        }
    }
}

ir::Value* emit_constant(Context& c, Tensor tensor, syntax::Range range) {
    if (!c.unit->is_function && is_initializer(c, tensor)) {
        return shared_initializer(c, std::move(tensor));
    }
    OpsetObject opset = operator_opset(c);
    import_opset(c, opset, range);
    NodeRequest request;
    request.version = opset.version;
    request.op_type = "Constant";
    request.attributes.push_back(ir::make_attribute("value", std::move(tensor)));
    request.range = range;
    ir::Node* node = emit_node(c, std::move(request));
    return node != nullptr ? node->output() : nullptr;
}

}  // namespace sardonyx::elaborate
