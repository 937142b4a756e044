#include "api/convert.h"

#include <fmt/format.h>

#include "api/fail.h"
#include "diagnostics/order.h"

namespace sardonyx::api {

using eval::RuntimeValue;

namespace {

Tensor to_tensor(const std::string& name, const Array& array) {
    ElementType type = element_type_from_name(array.element_type);
    if (type == ElementType::kUndefined) {
        fail(fmt::format("`{}`: there is no element type `{}`", name, array.element_type));
    }
    std::optional<int64_t> count = element_count(array.dims);
    if (!count) {
        fail(fmt::format("`{}`: the dims are not a valid shape", name));
    }
    bool is_string = type == ElementType::kString;
    size_t wanted = is_string ? static_cast<size_t>(*count) : byte_size(type, *count);
    size_t given = is_string ? array.strings.size() : array.bytes.size();
    if (wanted != given) {
        fail(fmt::format("`{}`: {} {} make no {} of this shape, which takes {}", name, given,
                         is_string ? "strings" : "bytes", array.element_type, wanted));
    }
    if (is_string) {
        return Tensor::of_strings(array.dims, array.strings);
    }
    auto owner = std::make_shared<std::vector<std::byte>>(array.bytes);
    return Tensor::view_of(type, array.dims, *owner, owner);
}

Array to_array(const Tensor& tensor) {
    Array array;
    array.element_type = name(tensor.element_type());
    array.dims = tensor.dims();
    if (tensor.element_type() == ElementType::kString) {
        std::span<const std::string> strings = tensor.elements<std::string>();
        array.strings.assign(strings.begin(), strings.end());
    } else {
        std::span<const std::byte> bytes = tensor.bytes();
        array.bytes.assign(bytes.begin(), bytes.end());
    }
    return array;
}

Location to_location(const diagnostics::Sources& sources, const diagnostics::Label& label) {
    Location location;
    location.message = label.message;
    if (label.span.valid()) {
        diagnostics::Position at = sources.position(label.span.file, label.span.begin);
        location.path = sources.path(label.span.file);
        diagnostics::Position behind = sources.position(label.span.file, label.span.end);
        location.line = at.line;
        location.column = at.column;
        location.end_line = behind.line;
        location.end_column = behind.column;
        location.begin = label.span.begin;
        location.end = label.span.end;
    }
    return location;
}

Severity to_severity(diagnostics::Severity severity) {
    return severity == diagnostics::Severity::kError     ? Severity::kError
           : severity == diagnostics::Severity::kWarning ? Severity::kWarning
                                                         : Severity::kNote;
}

}  // namespace

RuntimeValue to_engine(const std::string& name, const Value& value) {
    if (const Array* array = std::get_if<Array>(&value)) {
        return to_tensor(name, *array);
    }
    const auto* items = std::get_if<std::vector<Array>>(&value);
    if (items == nullptr) {
        return {};
    }
    auto sequence = std::make_shared<eval::Sequence>();
    for (const Array& item : *items) {
        sequence->items.emplace_back(to_tensor(name, item));
        sequence->element_type = sequence->items[0].tensor().element_type();
    }
    return std::shared_ptr<const eval::Sequence>(std::move(sequence));
}

Value from_engine(const std::string& name, const RuntimeValue& value) {
    if (value.is_tensor()) {
        return to_array(value.tensor());
    }
    if (value.is_none()) {
        return {};
    }
    if (value.is_map()) {
        fail(fmt::format("`{}` is a map, which this interface does not support", name));
    }
    std::vector<Array> items;
    for (const RuntimeValue& item : value.sequence().items) {
        if (!item.is_tensor()) {
            fail(fmt::format("`{}` is a sequence of something else than tensors", name));
        }
        items.push_back(to_array(item.tensor()));
    }
    return items;
}

std::vector<Diagnostic> from_engine(const diagnostics::Sources& sources,
                                    const diagnostics::Diagnostics& diagnostics) {
    std::vector<Diagnostic> all;
    for (const diagnostics::Diagnostic* one : diagnostics::in_order(diagnostics)) {
        Diagnostic& added = all.emplace_back();
        added.severity = to_severity(one->kind->severity);
        added.code = one->kind->code;
        added.message = one->message;
        for (const diagnostics::Label& label : one->labels) {
            added.locations.push_back(to_location(sources, label));
        }
        added.notes = one->notes;
        added.help = one->help;
        for (const diagnostics::Edit& edit : one->edits) {
            added.edits.push_back({std::string(sources.path(edit.span.file)), edit.span.begin,
                                   edit.span.end, edit.replacement});
        }
    }
    return all;
}

}  // namespace sardonyx::api
