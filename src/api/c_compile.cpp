// How models of the C interface are made: by the C++ interface, whose exceptions end here.
#include <sardonyx/c.h>
#include <sardonyx/compile.h>
#include <sardonyx/error.h>

#include "api/check.h"
#include "api/handles.h"

namespace sardonyx::api {
namespace {

using Assignments = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> read_texts(const char* const* texts, size_t count, const char* what) {
    if (texts == nullptr && count > 0) {
        throw Error(std::string("`") + what + "` is NULL");
    }
    std::vector<std::string> all;
    for (size_t i = 0; i < count; ++i) {
        if (texts[i] == nullptr) {
            throw Error(std::string("`") + what + "` is NULL at " + std::to_string(i));
        }
        all.emplace_back(texts[i]);
    }
    return all;
}

Assignments read_assignments(const char* const* texts, size_t count, const char* what) {
    Assignments all;
    for (const std::string& text : read_texts(texts, count, what)) {
        size_t equals = text.find('=');
        if (equals == std::string::npos) {
            throw Error(std::string("`") + what + "` has no `name=...` at " +
                        std::to_string(all.size()));
        }
        all.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return all;
}

CompileOptions read_options(const sdx_compile_options* options) {
    CompileOptions read;
    if (options == nullptr) {
        return read;
    }
    read.function = options->function != nullptr ? options->function : "";
    read.input_types =
        read_assignments(options->input_types, options->input_type_count, "input_types");
    read.attributes = read_assignments(options->attributes, options->attribute_count, "attributes");
    read.opset = options->opset;
    read.ir_version = options->ir_version;
    read.as_function = options->as_function != 0;
    read.schemas = read_texts(options->schemas, options->schema_count, "schemas");
    return read;
}

CheckOptions read_options(const sdx_check_options* options) {
    CheckOptions read;
    if (options == nullptr) {
        return read;
    }
    std::vector<std::string> paths =
        read_texts(options->text_paths, options->text_count, "text_paths");
    std::vector<std::string> texts = read_texts(options->texts, options->text_count, "texts");
    for (size_t i = 0; i < texts.size(); ++i) {
        read.texts.push_back({std::move(paths[i]), std::move(texts[i])});
    }
    read.schemas = read_texts(options->schemas, options->schema_count, "schemas");
    return read;
}

// Calls make(), which gives a Model.
template <typename Make>
sdx_error* make_model(sdx_model** out, Make make) noexcept {
    return guarded(out, [&]() -> sdx_error* {
        try {
            *out = make().share();
            return nullptr;
        } catch (const CompileError& error) {
            return make_error(error.what(), error.diagnostics());
        }
    });
}

}  // namespace
}  // namespace sardonyx::api

using sardonyx::api::make_error;
using sardonyx::api::make_model;

sdx_error* sdx_compile_file(const char* path, const sdx_compile_options* options, sdx_model** out) {
    return make_model(out, [&] {
        if (path == nullptr) {
            throw sardonyx::Error("`path` is NULL");
        }
        return sardonyx::compile_file(path, sardonyx::api::read_options(options));
    });
}

sdx_error* sdx_compile_text(const char* text, size_t size, const char* path,
                            const sdx_compile_options* options, sdx_model** out) {
    return make_model(out, [&] {
        if (text == nullptr && size > 0) {
            throw sardonyx::Error("`text` is NULL");
        }
        return sardonyx::compile_text(size > 0 ? std::string(text, size) : std::string(),
                                      path != nullptr ? path : "<text>",
                                      sardonyx::api::read_options(options));
    });
}

sdx_error* sdx_check_files(const char* const* paths, size_t path_count,
                           const sdx_check_options* options, sdx_error** out) {
    return sardonyx::api::guarded(out, [&]() -> sdx_error* {
        sardonyx::api::Report report =
            sardonyx::api::check_files(sardonyx::api::read_texts(paths, path_count, "paths"),
                                       sardonyx::api::read_options(options));
        if (!report.findings.empty()) {
            *out = make_error(std::move(report.text), std::move(report.findings));
        }
        return nullptr;
    });
}

sdx_error* sdx_model_load(const char* path, sdx_model** out) {
    return make_model(out, [&] {
        if (path == nullptr) {
            throw sardonyx::Error("`path` is NULL");
        }
        return sardonyx::Model::load(path);
    });
}

sdx_error* sdx_model_from_bytes(const void* data, size_t size, sdx_model** out) {
    return make_model(out, [&] {
        if (data == nullptr && size > 0) {
            throw sardonyx::Error("`data` is NULL");
        }
        return sardonyx::Model::from_bytes({static_cast<const char*>(data), size});
    });
}
