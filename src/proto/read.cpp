// The entries of the reader: ModelProto, FunctionProto, TensorProto, and files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <tuple>

#include "base/stop.h"
#include "ops/versions.h"
#include "proto/as_read.h"
#include "proto/fields.h"
#include "proto/proto.h"
#include "proto/read_context.h"
#include "proto/wire.h"
#include "types/domain.h"

namespace sardonyx::proto {
namespace {

using protozero::pbf_reader;

constexpr size_t kMaxOpsetImports = 256;  // they are searched one by one

bool read_opset_import(ReadContext& context, std::string_view bytes, ir::OpsetImport* result) {
    pbf_reader message(bytes);
    while (message.next()) {
        switch (message.tag_and_type()) {
            case bytes_field(OpsetImportField::kDomain):
                if (!context.keep(message.get_view(), &result->domain)) {
                    return false;
                }
                break;
            case varint_field(OpsetImportField::kVersion):
                result->version = message.get_int64();
                break;
            default:
                message.skip();
        }
    }
    return context.take();
}

// A version that there can be.
bool check_opset_import(ReadContext& context, const ir::OpsetImport& import) {
    std::string problem = ops::version_problem(import.domain, import.version);
    return problem.empty() || context.fail(problem);
}

// A domain may be imported more than once, with one version: of two, the comment on
// ModelProto.opset_import takes the higher one, and other readers the last one. One entry is kept.
bool add_opset_import(ReadContext& context, std::string_view bytes,
                      std::vector<ir::OpsetImport>* imports) {
    ir::OpsetImport added;
    context.enter("opset_import", static_cast<int64_t>(imports->size()));
    if (!read_opset_import(context, bytes, &added) || !check_opset_import(context, added)) {
        return false;
    }
    for (const ir::OpsetImport& import : *imports) {
        if (normal_domain(import.domain) != normal_domain(added.domain)) {
            continue;
        }
        if (import.version != added.version) {
            return context.fail(fmt::format("the domain `{}` is imported as version {} and {}",
                                            shown_domain(normal_domain(added.domain)),
                                            import.version, added.version));
        }
        context.leave();
        return true;
    }
    context.leave();
    if (imports->size() >= kMaxOpsetImports) {
        return context.fail(fmt::format("more than {} opset imports", kMaxOpsetImports));
    }
    imports->push_back(added);
    return true;
}

// --- Functions -----------------------------------------------------------------------------------

struct FunctionParts {
    BodyParts body;
    std::string preserved;
    std::vector<std::string_view> attributes;  // AttributeProtos
};

bool read_function_parts(ReadContext& context, std::string_view bytes, FunctionParts* parts,
                         ir::Function* function) {
    pbf_reader message(bytes);
    while (message.next()) {
        bool ok = true;
        switch (message.tag_and_type()) {
            case bytes_field(FunctionField::kName):
                ok = context.keep(message.get_view(), &function->name);
                break;
            case bytes_field(FunctionField::kDomain):
                ok = context.keep(message.get_view(), &function->domain);
                break;
            case bytes_field(FunctionField::kOverload):
                ok = context.keep(message.get_view(), &function->overload);
                break;
            case bytes_field(FunctionField::kDoc):
                ok = context.keep(message.get_view(), &function->doc);
                break;
            case bytes_field(FunctionField::kAttribute):
                ok = context.take() &&
                     context.keep(message.get_view(), &function->attributes.emplace_back());
                break;
            case bytes_field(FunctionField::kAttributeProto):
                ok = context.collect(message.get_view(), &parts->attributes);
                break;
            case bytes_field(FunctionField::kOpsetImport):
                ok = add_opset_import(context, message.get_view(), &function->opset_imports);
                break;
            case bytes_field(FunctionField::kMetadata):
                ok = read_metadata(context, message.get_view(), &function->metadata);
                break;
            case bytes_field(FunctionField::kInput):
                ok = context.collect(message.get_view(), &parts->body.inputs);
                break;
            case bytes_field(FunctionField::kOutput):
                ok = context.collect(message.get_view(), &parts->body.outputs);
                break;
            case bytes_field(FunctionField::kNode):
                ok = context.collect(message.get_view(), &parts->body.nodes);
                break;
            case bytes_field(FunctionField::kValueInfo):
                ok = context.collect(message.get_view(), &parts->body.value_infos);
                break;
            default:
                preserve_field(&message, &parts->preserved);
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

bool check_function(ReadContext& context, const ir::Function& function) {
    std::set<std::string_view> names;
    for (std::string_view name : function.attributes) {
        if (!names.insert(name).second) {
            return context.fail(fmt::format("the attribute `{}` is given twice", name));
        }
    }
    for (const ir::Attribute& attribute : function.attribute_defaults) {
        if (!names.insert(attribute.name).second) {
            return context.fail(fmt::format("the attribute `{}` is given twice", attribute.name));
        }
    }
    return !function.name.empty() || context.fail("the function has no name");
}

bool read_function_proto(ReadContext& context, std::string_view bytes, ir::Function* function) {
    FunctionParts parts;
    if (!context.take() || !read_function_parts(context, bytes, &parts, function)) {
        return false;
    }
    function->body->preserved = context.model.intern(parts.preserved);
    std::string_view domain = normal_domain(function->domain);
    context.model.name_function(function, domain, function->name, function->overload);
    return read_attributes(context, "attribute_proto", parts.attributes, function->body,
                           &function->attribute_defaults) &&
           check_function(context, *function) &&
           read_body(context, parts.body, BodyKind::kFunction, function->body);
}

// --- Models --------------------------------------------------------------------------------------

struct ModelFields {
    std::optional<std::string_view> graph;
    std::vector<std::string_view> functions;
    std::vector<std::string_view> trainings;
    std::string preserved;
};

bool read_model_parts(ReadContext& context, std::string_view bytes, ModelFields* parts) {
    ir::Model& model = context.model;
    pbf_reader message(bytes);
    while (message.next()) {
        bool ok = true;
        switch (message.tag_and_type()) {
            case varint_field(ModelField::kIrVersion):
                model.ir_version = message.get_int64();
                break;
            case bytes_field(ModelField::kProducerName):
                ok = context.keep(message.get_view(), &model.producer_name);
                break;
            case bytes_field(ModelField::kProducerVersion):
                ok = context.keep(message.get_view(), &model.producer_version);
                break;
            case bytes_field(ModelField::kDomain):
                ok = context.keep(message.get_view(), &model.domain);
                break;
            case varint_field(ModelField::kModelVersion):
                model.model_version = message.get_int64();
                break;
            case bytes_field(ModelField::kDoc):
                ok = context.keep(message.get_view(), &model.doc);
                break;
            case bytes_field(ModelField::kGraph):
                ok = !parts->graph.has_value() || context.fail("the model has two graphs");
                parts->graph = message.get_view();
                break;
            case bytes_field(ModelField::kOpsetImport):
                ok = add_opset_import(context, message.get_view(), &model.opset_imports);
                break;
            case bytes_field(ModelField::kMetadata):
                ok = read_metadata(context, message.get_view(), &model.metadata);
                break;
            case bytes_field(ModelField::kFunctions):
                parts->functions.push_back(message.get_view());
                break;
            case bytes_field(ModelField::kTrainingInfo): {
                pbf_reader copy = message;
                parts->trainings.push_back(copy.get_view());
                preserve_field(&message, &parts->preserved);
                break;
            }
            default:  // configuration, and what later releases have
                preserve_field(&message, &parts->preserved);
        }
        if (!ok) {
            return false;
        }
    }
    model.preserved = model.intern(parts->preserved);
    return true;
}

// The initializers of a TrainingInfoProto's graphs, which nothing here runs, are tensors all the
// same.
bool check_training(ReadContext& context, std::string_view bytes) {
    context.enter("training_info");
    pbf_reader message(bytes);
    while (message.next()) {
        uint32_t field = message.tag_and_type();
        if (field != bytes_field(TrainingField::kInitialization) &&
            field != bytes_field(TrainingField::kAlgorithm)) {
            message.skip();
            continue;
        }
        pbf_reader graph(message.get_view());
        while (graph.next()) {
            NamedTensor tensor;
            if (graph.tag_and_type() != bytes_field(GraphField::kInitializer)) {
                graph.skip();
            } else if (!read_tensor(context, graph.get_view(), &tensor)) {
                return false;
            }
        }
    }
    context.leave();
    return true;
}

bool check_model(ReadContext& context, const ModelFields& parts) {
    int64_t version = context.model.ir_version;
    if (version == 0) {
        return context.fail("there is no `ir_version`: the bytes are not an ONNX model");
    }
    if (std::string problem = ops::ir_version_problem(version); !problem.empty()) {
        return context.fail(problem);
    }
    if (context.model.opset_imports.empty()) {
        return context.fail("the model imports no operators: there is no `opset_import`");
    }
    for (std::string_view training : parts.trainings) {
        if (!check_training(context, training)) {
            return false;
        }
    }
    return parts.graph.has_value() || context.fail("the model has no graph");
}

bool read_functions(ReadContext& context, const ModelFields& parts) {
    std::set<std::tuple<std::string_view, std::string_view, std::string_view>> known;
    for (size_t i = 0; i < parts.functions.size(); ++i) {
        stop_point();
        context.enter("functions", static_cast<int64_t>(i));
        ir::Function* function = context.model.add_function({}, {});
        if (!read_function_proto(context, parts.functions[i], function)) {
            return false;
        }
        if (!known.insert({function->domain, function->name, function->overload}).second) {
            return context.fail(fmt::format("the function `{}` of domain `{}` is defined twice",
                                            function->name, function->domain));
        }
        context.leave();
    }
    return true;
}

bool read_model_proto(ReadContext& context, std::string_view bytes) {
    ModelFields parts;
    if (!read_model_parts(context, bytes, &parts) || !check_model(context, parts)) {
        return false;
    }
    context.enter("graph");
    context.model.graph = context.model.make_graph(nullptr);
    if (!read_graph(context, *parts.graph, context.model.graph)) {
        return false;
    }
    context.leave();
    return read_functions(context, parts);
}

// --- Entries -------------------------------------------------------------------------------------

// Whether it begins as no protobuf message of onnx does, which has bytes that count and name.
bool is_text(std::string_view bytes) {
    return std::none_of(
        bytes.begin(), bytes.begin() + std::min<size_t>(bytes.size(), 256), [](char byte) {
            auto code = static_cast<unsigned char>(byte);
            return code == 127 ||
                   (code < 32 && code != '\t' && code != '\n' && code != '\r' && code != '\f');
        });
}

// Runs a read function on the bytes; the only place where protozero's exceptions are caught.
template <typename Read>
Result<void> read_guarded(ReadContext& context, std::span<const std::byte> bytes, Read read) {
    // The limit of protobuf itself; it also keeps every length within protozero's 32 bits.
    if (bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
        return Error{
            fmt::format("{} bytes are more than the 2 GiB that protobuf can hold", bytes.size())};
    }
    std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    try {
        read(view);
    } catch (const protozero::exception& exception) {
        if (is_text(view)) {
            return Error{
                "it is text, not the bytes of a model: the name of a script ends in `.py`"};
        }
        context.fail(damage_text(exception));
    }
    return context.failed() ? Result<void>(Error{context.error()}) : Result<void>();
}

}  // namespace

Result<std::unique_ptr<ir::Model>> read_model(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner,
                                              const ReadOptions& options) {
    auto model = std::make_unique<ir::Model>();
    if (options.source != nullptr) {
        options.source->owner = owner;
        options.source->bytes = bytes;
    }
    ReadContext context(options, std::move(owner), model.get());
    SDX_TRY(read_guarded(context, bytes,
                         [&](std::string_view view) { return read_model_proto(context, view); }));
    return model;
}

Result<std::unique_ptr<ir::Model>> read_model_text(std::span<const std::byte> text,
                                                   std::shared_ptr<const void> owner, Form form,
                                                   const ReadOptions& options) {
    if (form == Form::kBytes) {
        return read_model(text, std::move(owner), options);
    }
    std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
    SDX_ASSIGN(std::string made, bytes_of_text(view, form));
    auto bytes = std::make_shared<std::string>(std::move(made));
    return read_model(std::as_bytes(std::span<const char>(*bytes)), bytes, options);
}

Result<std::unique_ptr<ir::Model>> read_model_file(const std::string& path, FileStamps* stamps) {
    return read_model_file(path, FileReport{.stamps = stamps});
}

Result<std::unique_ptr<ir::Model>> read_model_file(const std::string& path,
                                                   const FileReport& report) {
    Result<MappedFile> file = map_file(path);
    SDX_TRY(file);
    FileStamps own{file->stamp}, mapped = own;
    std::erase(own, nullptr);
    MappedReading reading(own);
    ReadOptions options;
    std::filesystem::path folder = std::filesystem::path(path).parent_path();
    options.folder = folder.empty() ? "." : folder.string();
    options.stamps = &mapped;
    options.paths = report.external;
    options.breaches = report.breaches;
    Form form = form_of_path(path);
    if (report.source != nullptr) {
        auto external = std::make_shared<ExternalFiles>();
        options.files = external.get();
        options.source = report.source;
        report.source->external = std::move(external);
    }
    Result<std::unique_ptr<ir::Model>> model =
        read_model_text(file->bytes, std::move(file->owner), form, options);
    std::erase(mapped, nullptr);
    SDX_TRY(check_unchanged(mapped));
    if (!model.ok()) {
        return Error{fmt::format("`{}`: {}", path, model.error().message)};
    }
    if (report.stamps != nullptr) {
        *report.stamps = std::move(mapped);
    }
    return model;
}

Result<std::unique_ptr<ir::Model>> read_function(std::span<const std::byte> bytes,
                                                 std::shared_ptr<const void> owner,
                                                 const ReadOptions& options) {
    auto model = std::make_unique<ir::Model>();
    ReadContext context(options, std::move(owner), model.get());
    ir::Function* function = model->add_function({}, {});
    SDX_TRY(read_guarded(context, bytes, [&](std::string_view view) {
        return read_function_proto(context, view, function);
    }));
    return model;
}

Result<Tensor> read_tensor(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                           const ReadOptions& options) {
    ir::Model texts;
    ReadContext context(options, std::move(owner), &texts);
    NamedTensor result;
    SDX_TRY(read_guarded(context, bytes, [&](std::string_view view) {
        return read_tensor(context, view, &result);
    }));
    return std::move(result.tensor);
}

Result<Type> read_type(std::span<const std::byte> bytes) {
    ir::Model texts;
    ReadOptions options;
    ReadContext context(options, nullptr, &texts);
    context.keeps_types = true;
    Type type;
    bool is_opaque = false;
    SDX_TRY(read_guarded(context, bytes, [&](std::string_view view) {
        return read_type(context, view, &type, &is_opaque);
    }));
    return is_opaque ? Type() : type;
}

}  // namespace sardonyx::proto
