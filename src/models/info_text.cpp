// An Info as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/json.h"
#include "base/quote.h"
#include "base/stop.h"
#include "diagnostics/glyphs.h"
#include "models/info.h"
#include "types/domain.h"

namespace sardonyx::models {
namespace {

using diagnostics::visible;

std::string shown_bytes(int64_t bytes) {
    constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto number = static_cast<double>(bytes);
    size_t unit = 0;
    while (number >= 1024 && unit + 1 < std::size(kUnits)) {
        number /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} bytes", bytes)
                     : fmt::format("{:.4g} {}", number, kUnits[unit]);
}

// A number with its thousands apart, or an expression.
std::string shown_count(const Dim& count) {
    if (!count.is_static()) {
        return count.is_unknown() ? "?" : visible(count.to_string());
    }
    std::string digits = std::to_string(count.value());
    for (size_t i = digits.size(); i > 3 && digits[i - 4] != '-'; i -= 3) {
        digits.insert(i - 3, ",");
    }
    return digits;
}

std::string shown_bytes(const Dim& bytes) {
    return bytes.is_static() ? shown_bytes(bytes.value()) : shown_count(bytes);
}

class InfoText {
  public:
    std::string write(const Info& info, bool lists_nodes) {
        header(info);
        types("inputs", info.inputs);
        types("outputs", info.outputs);
        operators(info);
        weights(info);
        costs(info);
        if (lists_nodes) {
            nodes(info);
        }
        return std::move(text_);
    }

  private:
    void line(std::string_view name, std::string_view words) {
        text_ += fmt::format("{:<12}{}\n", name, words);
    }

    void header(const Info& info) {
        line("graph", quoted(info.graph));
        if (!info.producer.empty()) {
            line("producer", visible(info.producer));
        }
        if (!info.doc.empty()) {
            line("doc", quoted(info.doc));
        }
        std::string opsets;
        for (const auto& [domain, version] : info.opsets) {
            opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", visible(domain), version);
        }
        line("opsets", opsets);
        line("IR version", std::to_string(info.ir_version));
        line("runs on", info.runtime.empty() ? "no known version of ONNX Runtime"
                                             : "ONNX Runtime " + info.runtime + " or newer");
        for (const auto& [key, value] : info.metadata) {
            line("metadata", fmt::format("{}: {}", quoted(key), quoted(value)));
        }
    }

    void types(std::string_view what, const std::vector<NamedType>& values) {
        text_ += fmt::format("\n{}\n", what);
        for (const NamedType& value : values) {
            text_ += fmt::format("  {}: {}\n", visible(value.name), visible(value.type));
        }
    }

    void operators(const Info& info) {
        text_ += "\noperators\n";
        for (const OperatorCount& one : info.operators) {
            text_ += fmt::format("  {:>6}  {}\n", one.count, name_of(one));
        }
        for (const FunctionInfo& one : info.functions) {
            text_ +=
                fmt::format("  function {}: {} node{}, {} call{}\n", visible(one.name), one.nodes,
                            one.nodes == 1 ? "" : "s", one.calls, one.calls == 1 ? "" : "s");
        }
    }

    static std::string name_of(const OperatorCount& one) {
        return visible(one.domain == shown_domain({}) ? one.name : one.domain + "." + one.name);
    }

    void weights(const Info& info) {
        text_ += fmt::format("\nweights: {} parameters, {}\n", shown_count(info.parameters),
                             shown_bytes(info.weight_bytes));
        for (const WeightKind& kind : info.weights) {
            text_ += fmt::format("  {:<8}  {} in {} tensor{}, {}\n", kind.type,
                                 shown_count(kind.elements), kind.tensors,
                                 kind.tensors == 1 ? "" : "s", shown_bytes(kind.bytes));
        }
    }

    void costs(const Info& info) {
        text_ += fmt::format("\noperations: {}\n", shown_count(info.operations));
        for (const OperatorCount& one : info.uncounted) {
            text_ += fmt::format("  not counted: {} of {}\n", one.count, name_of(one));
        }
        text_ += info.peak.bytes ? fmt::format("memory of a run: {} and the weights\n",
                                               shown_bytes(*info.peak.bytes))
                                 : fmt::format("memory of a run: unknown, by the size of {}\n",
                                               visible(info.peak.unknown));
        if (!info.dims.empty() && !info.peak.bytes) {
            text_ += fmt::format("  `--dim {}=...` gives a size\n", visible(info.dims[0]));
        }
    }

    void nodes(const Info& info) {
        text_ += "\nnodes: operations, bytes read, bytes written\n";
        for (const NodeInfo& node : info.nodes) {
            text_ += fmt::format(
                "  {} ({}){}{}: {}, {}, {}\n", visible(node.name), visible(node.op),
                node.type.empty() ? "" : " ", visible(node.type), shown_count(node.cost.operations),
                shown_bytes(node.cost.bytes_read), shown_bytes(node.cost.bytes_written));
        }
    }

    std::string text_;
};

void put_count(JsonWriter& json, std::string_view name, const Dim& count) {
    json.key(name);
    if (count.is_static()) {
        json.value(count.value());
    } else if (count.is_unknown()) {
        json.null();
    } else {
        json.value(count.to_string());
    }
}

void put_types(JsonWriter& json, std::string_view name, const std::vector<NamedType>& values) {
    json.key(name).begin_list();
    for (const NamedType& value : values) {
        json.begin_object().member("name", value.name).member("type", value.type).end_object();
    }
    json.end_list();
}

void put_operators(JsonWriter& json, std::string_view name,
                   const std::vector<OperatorCount>& operators) {
    json.key(name).begin_list();
    for (const OperatorCount& one : operators) {
        json.begin_object()
            .member("domain", one.domain)
            .member("name", one.name)
            .member("count", one.count)
            .end_object();
    }
    json.end_list();
}

void put_header(JsonWriter& json, const Info& info) {
    json.member("graph", info.graph)
        .member("producer", info.producer)
        .member("doc", info.doc)
        .member("ir_version", info.ir_version)
        .member("model_version", info.model_version);
    json.key("opsets").begin_object();
    for (const auto& [domain, version] : info.opsets) {
        json.member(domain, version);
    }
    json.end_object().key("metadata").begin_object();
    for (const auto& [key, value] : info.metadata) {
        json.member(key, value);
    }
    json.end_object().key("onnxruntime");
    info.runtime.empty() ? json.null() : json.value(info.runtime);
}

void put_weights(JsonWriter& json, const Info& info) {
    json.member("parameters", info.parameters).member("weight_bytes", info.weight_bytes);
    json.key("weights").begin_list();
    for (const WeightKind& kind : info.weights) {
        json.begin_object()
            .member("type", kind.type)
            .member("tensors", kind.tensors)
            .member("elements", kind.elements)
            .member("bytes", kind.bytes)
            .end_object();
    }
    json.end_list();
}

void put_nodes(JsonWriter& json, std::span<const NodeInfo> nodes) {
    json.begin_list();
    for (const NodeInfo& node : nodes) {
        stop_point();
        json.begin_object()
            .member("name", node.name)
            .member("op", node.op)
            .member("type", node.type);
        put_count(json, "operations", node.cost.operations);
        put_count(json, "bytes_read", node.cost.bytes_read);
        put_count(json, "bytes_written", node.cost.bytes_written);
        json.end_object();
    }
    json.end_list();
}

}  // namespace

std::string info_text(const Info& info, bool lists_nodes) {
    return InfoText().write(info, lists_nodes);
}

std::string info_json(const Info& info) {
    JsonWriter json;
    json.begin_object();
    put_header(json, info);
    put_types(json, "inputs", info.inputs);
    put_types(json, "outputs", info.outputs);
    put_operators(json, "operators", info.operators);
    json.key("functions").begin_list();
    for (const FunctionInfo& one : info.functions) {
        json.begin_object()
            .member("name", one.name)
            .member("nodes", one.nodes)
            .member("calls", one.calls)
            .end_object();
    }
    json.end_list();
    put_weights(json, info);
    put_count(json, "operations", info.operations);
    put_operators(json, "uncounted", info.uncounted);
    json.key("run_bytes");
    info.peak.bytes ? json.value(*info.peak.bytes) : json.null();
    put_nodes(json.key("nodes"), info.nodes);
    return json.end_object().take();
}

std::string nodes_json(std::span<const NodeInfo> nodes) {
    JsonWriter json;
    put_nodes(json, nodes);
    return json.take();
}

}  // namespace sardonyx::models
