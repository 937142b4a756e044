// Kernels of the user's own: tables of them, and what they see of their calls.
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "api/kernels_handle.h"

namespace sardonyx::api {
namespace {

// The user's function, and what it wants with it.
struct Kernel {
    sdx_kernel function = nullptr;
    void* context = nullptr;
    void (*release)(void*) = nullptr;

    Kernel(sdx_kernel given, void* argument) : function(given), context(argument) {}
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    ~Kernel() {
        if (release != nullptr) {
            release(context);
        }
    }
};

// What is no error was perhaps never a handle: it is not freed.
eval::Status error_of_kernel(sdx_error* error) {
    if (error == nullptr) {
        return {};
    }
    if (!is_valid(error)) {
        return Error{"its kernel returns something other than an sdx_error"};
    }
    Error result{error->message.empty() ? "its kernel has failed" : error->message};
    sdx_error_free(error);
    return result;
}

eval::Status run_kernel(const Kernel& kernel, eval::KernelContext& c) {
    sdx_call call;
    call.context = &c;
    call.inputs.resize(c.input_count());
    for (size_t i = 0; i < c.input_count(); ++i) {
        call.inputs[i].value = c.value(i);
    }
    eval::Status status = error_of_kernel(kernel.function(&call, kernel.context));
    call.kind = 0;  // for a kernel that has kept it, as long as the memory is there
    return status;
}

sdx_error* read_attribute(const ir::Attribute& attribute, sdx_call* call, sdx_argument* out) {
    if (const auto* number = attribute.get<int64_t>()) {
        out->kind = SDX_ARGUMENT_INT;
        out->ints = number;
        out->count = 1;
    } else if (const auto* real = attribute.get<float>()) {
        out->kind = SDX_ARGUMENT_FLOAT;
        out->floats = call->floats.emplace_back(1, *real).data();
        out->count = 1;
    } else if (const auto* text = attribute.get<std::string>()) {
        out->kind = SDX_ARGUMENT_TEXT;
        out->texts = call->text_lists.emplace_back(1, text->c_str()).data();
        out->count = 1;
    } else if (const auto* tensor = attribute.get<Tensor>()) {
        out->kind = SDX_ARGUMENT_VALUE;
        out->value = &call->values.emplace_back(sdx_value{sdx_value::kKind, *tensor});
    } else if (const auto* numbers = attribute.get<std::vector<int64_t>>()) {
        out->kind = SDX_ARGUMENT_INTS;
        out->ints = numbers->data();
        out->count = numbers->size();
    } else if (const auto* reals = attribute.get<std::vector<float>>()) {
        out->kind = SDX_ARGUMENT_FLOATS;
        out->floats = call->floats.emplace_back(reals->begin(), reals->end()).data();
        out->count = reals->size();
    } else if (const auto* texts = attribute.get<std::vector<std::string>>()) {
        std::vector<const char*>& list = call->text_lists.emplace_back();
        for (const std::string& one : *texts) {
            list.push_back(one.c_str());
        }
        out->kind = SDX_ARGUMENT_TEXTS;
        out->texts = list.data();
        out->count = list.size();
    } else {
        return make_error(fmt::format("attribute `{}` is {}, which a kernel cannot have",
                                      attribute.name, sardonyx::name(attribute.type)));
    }
    return nullptr;
}

}  // namespace
}  // namespace sardonyx::api

using sardonyx::api::guarded;
using sardonyx::api::is_valid;
using sardonyx::api::make_error;

sdx_error* sdx_error_new(const char* message) {
    return guarded([&] { return make_error(message != nullptr ? message : ""); });
}

sdx_error* sdx_kernels_new(sdx_kernels** out) {
    return guarded(out, [&]() -> sdx_error* {
        *out = new sdx_kernels;
        return nullptr;
    });
}

sdx_error* sdx_kernels_add(sdx_kernels* kernels, const char* domain, const char* name,
                           sdx_kernel kernel, void* context, void (*release)(void* context)) {
    return guarded([&]() -> sdx_error* {
        if (!is_valid(kernels)) {
            return make_error("the kernels are NULL, or not kernels");
        }
        if (domain == nullptr || name == nullptr || kernel == nullptr) {
            return make_error("the domain, the name or the kernel is NULL");
        }
        auto held = std::make_shared<sardonyx::api::Kernel>(kernel, context);
        auto added = kernels->table.add(domain, name, [held](sardonyx::eval::KernelContext& c) {
            return sardonyx::api::run_kernel(*held, c);
        });
        if (!added.ok()) {
            return make_error(added.error().message);
        }
        held->release = release;
        return nullptr;
    });
}

void sdx_kernels_free(sdx_kernels* kernels) {
    if (is_valid(kernels)) {
        delete kernels;
    }
}

size_t sdx_call_input_count(const sdx_call* call) {
    return is_valid(call) ? call->inputs.size() : 0;
}

size_t sdx_call_output_count(const sdx_call* call) {
    return is_valid(call) ? call->context->output_count() : 0;
}

sdx_error* sdx_call_input(const sdx_call* call, size_t i, const sdx_value** out) {
    return guarded(out, [&]() -> sdx_error* {
        if (!is_valid(call) || i >= call->inputs.size()) {
            return make_error(is_valid(call) ? fmt::format("input {} of {}", i, call->inputs.size())
                                             : "the call is NULL, or not a call");
        }
        *out = call->inputs[i].value.is_none() ? nullptr : &call->inputs[i];
        return nullptr;
    });
}

sdx_error* sdx_call_attribute(sdx_call* call, const char* name, sdx_argument* out) {
    return guarded([&]() -> sdx_error* {
        if (!is_valid(call) || name == nullptr || out == nullptr) {
            return make_error(is_valid(call) ? "the name or `out` is NULL"
                                             : "the call is NULL, or not a call");
        }
        *out = {};
        const sardonyx::ir::Attribute* found = call->context->find_attribute(name);
        return found != nullptr ? sardonyx::api::read_attribute(*found, call, out) : nullptr;
    });
}

sdx_error* sdx_call_set_output(sdx_call* call, size_t i, const sdx_value* value) {
    return guarded([&]() -> sdx_error* {
        if (!is_valid(call) || i >= call->context->output_count()) {
            return make_error(is_valid(call)
                                  ? fmt::format("output {} of {}", i, call->context->output_count())
                                  : "the call is NULL, or not a call");
        }
        if (!is_valid(value) || value->value.is_none()) {
            return make_error(fmt::format("output {} is not a value", i));
        }
        call->context->set_output(i, value->value);
        return nullptr;
    });
}
