// Values of the C interface: tensors, sequences and maps.
#include <cstring>
#include <memory>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "api/value_handle.h"

namespace sardonyx::api {
namespace {

using eval::RuntimeValue;

constexpr int32_t kMostDims = 64;

// The engine's, which the public headers have no part in.
ElementType checked_type(int32_t number) {
    return element_type_from_number(number);
}

sdx_error* give(RuntimeValue value, sdx_value** out) {
    *out = new sdx_value{sdx_value::kKind, std::move(value)};
    return nullptr;
}

// Dims, count and bytes of a tensor that can be.
struct Extent {
    Dims dims;
    int64_t count = 0;
    size_t bytes = 0;
};

Result<Extent> extent_of(ElementType type, const int64_t* dims, int32_t rank) {
    Result<Dims> read = read_dims(dims, rank);
    if (!read.ok()) {
        return Error(read.error());
    }
    Extent extent{std::move(*read)};
    std::optional<int64_t> count = element_count(extent.dims);
    auto limit = static_cast<size_t>(eval::RunOptions().max_bytes);
    if (!count || (type == ElementType::kString && static_cast<size_t>(*count) > limit) ||
        byte_size(type, *count) > limit) {
        return Error{"the dims are not a valid shape, or make a tensor that is too large"};
    }
    extent.count = *count;
    extent.bytes = byte_size(type, *count);
    return extent;
}

// Calls the function of the caller when the last tensor on the memory is gone.
struct Borrowed {
    void (*release)(void*) = nullptr;
    void* context = nullptr;

    Borrowed(void (*function)(void*), void* argument) : release(function), context(argument) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() {
        if (release != nullptr) {
            release(context);
        }
    }
};

sdx_error* map_part(const sdx_value* value, Tensor eval::Map::*part, sdx_value** out) {
    return guarded(out, [&] {
        if (!is_valid(value) || !value->value.is_map()) {
            return make_error("the value is not a map");
        }
        return give(value->value.map().*part, out);
    });
}

}  // namespace

Result<Dims> read_dims(const int64_t* dims, int32_t rank) {
    if (rank < 0 || rank > kMostDims || (rank > 0 && dims == nullptr)) {
        return Error{
            fmt::format("a rank of {} with {}", rank, dims == nullptr ? "no dims" : "dims")};
    }
    return Dims(dims, dims + rank);
}

Result<void> check_view(const sdx_view* view, std::string_view what) {
    if (view == nullptr) {
        return Error{fmt::format("{} is NULL", what)};
    }
    ElementType type = checked_type(view->element_type);
    if (type == ElementType::kUndefined || type == ElementType::kString) {
        return Error{
            fmt::format("{} has element type {}, which no view has", what, view->element_type)};
    }
    Result<Extent> extent = extent_of(type, view->dims, view->rank);
    if (!extent.ok()) {
        return Error{fmt::format("{}: {}", what, extent.error().message)};
    }
    if (view->size != extent->bytes || (view->data == nullptr && view->size > 0)) {
        return Error{fmt::format("{} has {} bytes{}, but its type and shape take {}", what,
                                 view->size, view->data == nullptr ? " at NULL" : "",
                                 extent->bytes)};
    }
    return {};
}

}  // namespace sardonyx::api

// Not `using namespace`: the public interface has names of its own.
using sardonyx::Dims;
using sardonyx::ElementType;
using sardonyx::Result;
using sardonyx::Tensor;
using sardonyx::api::guarded;
using sardonyx::api::is_valid;
using sardonyx::api::make_error;
using sardonyx::eval::RuntimeValue;

sdx_error* sdx_value_borrow(const sdx_view* view, void (*release)(void* context), void* context,
                            sdx_value** out) {
    return guarded(out, [&] {
        Result<void> checked = sardonyx::api::check_view(view, "the view");
        if (!checked.ok()) {
            return make_error(checked.error().message);
        }
        auto owner = std::make_shared<sardonyx::api::Borrowed>(nullptr, context);
        Tensor tensor =
            Tensor::view_of(sardonyx::api::checked_type(view->element_type),
                            Dims(view->dims, view->dims + view->rank),
                            {static_cast<const std::byte*>(view->data), view->size}, owner);
        sdx_error* error = sardonyx::api::give(std::move(tensor), out);
        owner->release = release;  // nothing can fail from here on
        return error;
    });
}

sdx_error* sdx_value_zeros(int32_t element_type, const int64_t* dims, int32_t rank,
                           sdx_value** out) {
    return guarded(out, [&] {
        ElementType type = sardonyx::api::checked_type(element_type);
        if (type == ElementType::kUndefined) {
            return make_error(fmt::format("there is no element type {}", element_type));
        }
        auto extent = sardonyx::api::extent_of(type, dims, rank);
        if (!extent.ok()) {
            return make_error(extent.error().message);
        }
        return sardonyx::api::give(Tensor::zeros(type, std::move(extent->dims)), out);
    });
}

sdx_error* sdx_value_strings(const char* const* texts, const size_t* sizes, size_t count,
                             const int64_t* dims, int32_t rank, sdx_value** out) {
    return guarded(out, [&] {
        auto extent = sardonyx::api::extent_of(ElementType::kString, dims, rank);
        if (!extent.ok()) {
            return make_error(extent.error().message);
        }
        if (static_cast<size_t>(extent->count) != count || (texts == nullptr && count > 0)) {
            return make_error(fmt::format("{} texts for {} elements", texts == nullptr ? 0 : count,
                                          extent->count));
        }
        std::vector<std::string> strings;
        for (size_t i = 0; i < count; ++i) {
            if (texts[i] == nullptr) {
                return make_error(fmt::format("text {} is NULL", i));
            }
            strings.emplace_back(texts[i], sizes != nullptr ? sizes[i] : std::strlen(texts[i]));
        }
        return sardonyx::api::give(Tensor::of_strings(std::move(extent->dims), std::move(strings)),
                                   out);
    });
}

sdx_error* sdx_value_sequence(int32_t element_type, const sdx_value* const* items, size_t count,
                              sdx_value** out) {
    return guarded(out, [&] {
        auto sequence = std::make_shared<sardonyx::eval::Sequence>();
        sequence->element_type = sardonyx::api::checked_type(element_type);
        if (element_type != 0 && sequence->element_type == ElementType::kUndefined) {
            return make_error(fmt::format("there is no element type {}", element_type));
        }
        if (items == nullptr && count > 0) {
            return make_error("`items` is NULL");
        }
        for (size_t i = 0; i < count; ++i) {
            if (!is_valid(items[i])) {
                return make_error(fmt::format("item {} is not a value", i));
            }
            const RuntimeValue& item = items[i]->value;
            if (item.is_tensor() && sequence->element_type == ElementType::kUndefined) {
                sequence->element_type = item.tensor().element_type();
            }
            if (item.is_tensor() && item.tensor().element_type() != sequence->element_type) {
                return make_error(fmt::format("item {} is {}, in a sequence of {}", i,
                                              item.describe(), name(sequence->element_type)));
            }
            sequence->items.push_back(item);
        }
        return sardonyx::api::give(
            std::shared_ptr<const sardonyx::eval::Sequence>(std::move(sequence)), out);
    });
}

sdx_error* sdx_value_map(const sdx_value* keys, const sdx_value* values, sdx_value** out) {
    return guarded(out, [&] {
        if (!is_valid(keys) || !is_valid(values) || !keys->value.is_tensor() ||
            !values->value.is_tensor()) {
            return make_error("keys and values of a map are tensors");
        }
        auto map = sardonyx::eval::make_map(keys->value.tensor(), values->value.tensor());
        if (!map.ok()) {
            return make_error(map.error().message);
        }
        return sardonyx::api::give(std::move(*map), out);
    });
}

int32_t sdx_value_kind(const sdx_value* value) {
    if (!is_valid(value)) {
        return -1;
    }
    return value->value.is_tensor()     ? SDX_TENSOR
           : value->value.is_sequence() ? SDX_SEQUENCE
           : value->value.is_map()      ? SDX_MAP
                                        : SDX_NOTHING;
}

sdx_error* sdx_value_view(const sdx_value* value, sdx_view* out) {
    return guarded([&]() -> sdx_error* {
        if (out == nullptr || !is_valid(value) || !value->value.is_tensor()) {
            return make_error(out == nullptr ? "`out` is NULL" : "the value is not a tensor");
        }
        const Tensor& tensor = value->value.tensor();
        *out = {static_cast<int32_t>(tensor.element_type()), tensor.rank(), tensor.dims().data(),
                nullptr, 0};
        if (tensor.element_type() != ElementType::kString) {
            std::span<const std::byte> bytes = tensor.bytes();
            out->data = const_cast<std::byte*>(bytes.data());
            out->size = bytes.size();
        }
        return nullptr;
    });
}

sdx_error* sdx_value_text(const sdx_value* value, size_t i, const char** text, size_t* size) {
    return guarded([&]() -> sdx_error* {
        if (text == nullptr || !is_valid(value) || !value->value.is_tensor() ||
            value->value.tensor().element_type() != ElementType::kString) {
            return make_error("the value is not a tensor of STRING, or `text` is NULL");
        }
        std::span<const std::string> strings = value->value.tensor().elements<std::string>();
        if (i >= strings.size()) {
            return make_error(fmt::format("element {} of {}", i, strings.size()));
        }
        *text = strings[i].c_str();
        if (size != nullptr) {
            *size = strings[i].size();
        }
        return nullptr;
    });
}

size_t sdx_value_count(const sdx_value* value) {
    if (!is_valid(value) || value->value.is_none()) {
        return 0;
    }
    return value->value.is_tensor()     ? static_cast<size_t>(value->value.tensor().count())
           : value->value.is_sequence() ? value->value.sequence().items.size()
                                        : static_cast<size_t>(value->value.map().keys.count());
}

sdx_error* sdx_value_item(const sdx_value* value, size_t i, sdx_value** out) {
    return guarded(out, [&] {
        if (!is_valid(value) || !value->value.is_sequence()) {
            return make_error("the value is not a sequence");
        }
        const std::vector<RuntimeValue>& items = value->value.sequence().items;
        if (i >= items.size()) {
            return make_error(fmt::format("item {} of {}", i, items.size()));
        }
        return sardonyx::api::give(items[i], out);
    });
}

sdx_error* sdx_value_keys(const sdx_value* value, sdx_value** out) {
    return sardonyx::api::map_part(value, &sardonyx::eval::Map::keys, out);
}

sdx_error* sdx_value_values(const sdx_value* value, sdx_value** out) {
    return sardonyx::api::map_part(value, &sardonyx::eval::Map::values, out);
}

void sdx_value_free(sdx_value* value) {
    if (is_valid(value)) {
        delete value;
    }
}
