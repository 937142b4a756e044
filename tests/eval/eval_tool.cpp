// Runs models on tensors in files, for tests/python/eval/test_node_cases.py. Each line of stdin is
//   model path <tab> prefix of output paths <tab> input <tab> input ...
// where an input is `name=VALUE` and a VALUE is one of
//   N                        nothing
//   T:path                   a TensorProto file
//   S:FLOAT:path,path,...    a sequence of them
//   M:path,path              a map: keys and values
// and is answered by one line: "error <tab> message", or "ok" and for each output <tab> N, T (the
// file PREFIX_i.pb), S:FLOAT:count (the files PREFIX_i_j.pb), M (PREFIX_i_keys.pb and
// PREFIX_i_values.pb) or L:count, a sequence of maps (PREFIX_i_j_keys.pb and PREFIX_i_j_values.pb).
#include <string>
#include <vector>

#include "../requests.h"
#include "base/file.h"
#include "base/write_file.h"
#include "eval/eval.h"
#include "proto/proto.h"

namespace {

using sardonyx::Error;
using sardonyx::MappedFile;
using sardonyx::Result;
using sardonyx::Tensor;
using sardonyx::eval::Map;
using sardonyx::eval::RuntimeValue;
using sardonyx::eval::Sequence;
using sardonyx::test::split;
namespace eval = sardonyx::eval;
namespace proto = sardonyx::proto;

Result<RuntimeValue> read_tensor(const std::string& path) {
    Result<MappedFile> file = sardonyx::map_file(path);
    SDX_TRY(file);
    Result<Tensor> tensor = proto::read_tensor(file->bytes, file->owner);
    SDX_TRY(tensor);
    return RuntimeValue(*tensor);
}

Result<RuntimeValue> read_value(const std::string& text) {
    if (text[0] == 'T') {
        return read_tensor(text.substr(2));
    }
    if (text[0] == 'N') {
        return RuntimeValue();
    }
    if (text[0] == 'M') {
        std::vector<std::string> paths = split(text.substr(2), ',');
        Result<RuntimeValue> keys = read_tensor(paths.at(0));
        SDX_TRY(keys);
        Result<RuntimeValue> values = read_tensor(paths.at(1));
        SDX_TRY(values);
        return RuntimeValue(std::make_shared<const Map>(
            Map{std::move(keys->tensor()), std::move(values->tensor())}));
    }
    size_t colon = text.find(':', 2);
    auto sequence = std::make_shared<Sequence>();
    sequence->element_type = sardonyx::element_type_from_name(text.substr(2, colon - 2));
    std::string paths = text.substr(colon + 1);
    std::vector<std::string> items;
    if (!paths.empty()) {
        items = split(paths, ',');
    }
    for (const std::string& path : items) {
        Result<RuntimeValue> item = read_tensor(path);
        SDX_TRY(item);
        sequence->items.push_back(*item);
    }
    return RuntimeValue(std::shared_ptr<const Sequence>(sequence));
}

Result<void> write_map(const Map& map, const std::string& prefix) {
    SDX_TRY(sardonyx::write_file(prefix + "_keys.pb", proto::write_tensor(map.keys, "")));
    return sardonyx::write_file(prefix + "_values.pb", proto::write_tensor(map.values, ""));
}

Result<std::string> write_value(const RuntimeValue& value, const std::string& prefix) {
    if (value.is_none()) {
        return std::string("\tN");
    }
    if (value.is_tensor()) {
        SDX_TRY(sardonyx::write_file(prefix + ".pb", proto::write_tensor(value.tensor(), "")));
        return std::string("\tT");
    }
    if (value.is_map()) {
        SDX_TRY(write_map(value.map(), prefix));
        return std::string("\tM");
    }
    const Sequence& sequence = value.sequence();
    bool holds_maps = !sequence.items.empty() && sequence.items[0].is_map();
    for (size_t i = 0; i < sequence.items.size() && holds_maps; ++i) {
        SDX_TRY(write_map(sequence.items[i].map(), prefix + "_" + std::to_string(i)));
    }
    if (holds_maps) {
        return "\tL:" + std::to_string(sequence.items.size());
    }
    for (size_t i = 0; i < sequence.items.size(); ++i) {
        SDX_TRY(sardonyx::write_file(prefix + "_" + std::to_string(i) + ".pb",
                                     proto::write_tensor(sequence.items[i].tensor(), "")));
    }
    return "\tS:" + std::string(sardonyx::name(sequence.element_type)) + ":" +
           std::to_string(sequence.items.size());
}

Result<std::string> run(const std::vector<std::string>& fields) {
    auto model = proto::read_model_file(fields[0]);
    SDX_TRY(model);
    std::vector<std::pair<std::string_view, RuntimeValue>> inputs;
    for (size_t i = 2; i < fields.size(); ++i) {
        size_t equals = fields[i].find('=');
        Result<RuntimeValue> value = read_value(fields[i].substr(equals + 1));
        SDX_TRY(value);
        inputs.emplace_back(std::string_view(fields[i]).substr(0, equals), *value);
    }
    eval::RunOptions options;
    options.max_steps = 1'000'000;
    options.max_bytes = int64_t{1} << 30;
    auto outputs = eval::run_model(**model, inputs, options);
    SDX_TRY(outputs);
    std::string answer = "ok";
    for (size_t i = 0; i < outputs->size(); ++i) {
        Result<std::string> written =
            write_value((*outputs)[i], fields[1] + "_" + std::to_string(i));
        SDX_TRY(written);
        answer += *written;
    }
    return answer;
}

}  // namespace

int main() {
    return sardonyx::test::serve(2, [](const std::vector<std::string>& fields) {
        Result<std::string> answer = run(fields);
        return answer.ok() ? *answer : "error\t" + answer.error().message;
    });
}
