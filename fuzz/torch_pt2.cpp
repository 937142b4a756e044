// Any bytes as a .pt2 file, and as the JSON of the model in one that is whole: no crash, and what
// is read becomes the text of a script, all of whose values have names.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "torch/convert.h"
#include "torch/metadata.h"
#include "torch/outline.h"
#include "torch/pt2.h"
#include "torch/script.h"

namespace {

using sardonyx::torch::ReadProgram;

void append_number(std::string& bytes, uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
        bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
    }
}

// An archive of stored entries: the model, and the storage of one weight.
std::string archive_of(const std::string& model) {
    const std::pair<std::string, std::string> entries[] = {
        {"m/models/model.json", model},
        {"m/data/weights/weight_0", std::string(64, '\1')},
        {"m/data/weights/model_weights_config.json",
         R"({"config":{"w":{"path_name":"weight_0","use_pickle":false,"tensor_meta":{"dtype":7,)"
         R"("sizes":[{"as_int":4},{"as_int":4}],"strides":[{"as_int":1},{"as_int":4}],)"
         R"("storage_offset":{"as_int":0}}}}})"}};
    std::string bytes, directory;
    for (const auto& [name, content] : entries) {
        directory += "PK\1\2";
        directory.append(16, '\0');
        append_number(directory, content.size(), 4);
        append_number(directory, content.size(), 4);
        append_number(directory, name.size(), 2);
        directory.append(12, '\0');
        append_number(directory, bytes.size(), 4);
        directory += name;
        bytes += "PK\3\4";
        bytes.append(22, '\0');
        append_number(bytes, name.size(), 2);
        append_number(bytes, 0, 2);
        bytes += name + content;
    }
    size_t at = bytes.size();
    bytes += directory + "PK\5\6";
    append_number(bytes, 0, 4);
    append_number(bytes, 3, 2);
    append_number(bytes, 3, 2);
    append_number(bytes, directory.size(), 4);
    append_number(bytes, at, 4);
    append_number(bytes, 0, 2);
    return bytes;
}

void convert(const std::string& text) {
    auto bytes = std::make_shared<std::vector<std::byte>>(text.size());
    if (!text.empty()) {
        std::memcpy(bytes->data(), text.data(), text.size());
    }
    auto read = sardonyx::torch::read_pt2(*bytes, bytes, {{"s0", "rows"}});
    if (!read.ok()) {
        SDX_CHECK(!read.error().message.empty());
        return;
    }
    auto done = sardonyx::torch::finish(read->program, std::move(read->problems),
                                        sardonyx::torch::State::kOutputs, {});
    if (!done.ok()) {
        return;
    }
    sardonyx::torch::Script script =
        sardonyx::torch::write_script(read->program, {20, "weights.pt2"});
    SDX_CHECK(!script.lines.empty());
    SDX_CHECK(!sardonyx::torch::outline(script).empty());
    (void)sardonyx::torch::metadata_by_line(script.lines);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    convert(text);
    convert(archive_of(text));
    return 0;
}
