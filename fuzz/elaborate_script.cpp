// Any bytes as a file of scripts: each script compiles as a model and as a function, and what is
// said to be whole can be written and read again. Corpus: examples/*.py and the programs of
// tests/python/test_language.py. Limits are low, so that each run is short; imports look into a
// folder that does not exist.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "elaborate/elaborate.h"
#include "ir/verify.h"
#include "proto/proto.h"

namespace {

namespace elaborate = sardonyx::elaborate;
namespace ir = sardonyx::ir;
namespace proto = sardonyx::proto;
using sardonyx::Result;

constexpr std::string_view kPath = "/nonexistent/sardonyx/fuzz.py";

elaborate::Options small_options() {
    elaborate::Options options;
    options.limits.static_iterations = 2'000;
    options.limits.nodes = 2'000;
    options.limits.steps = 20'000;
    options.limits.text_bytes = 1 << 14;
    return options;
}

void check_model(const std::string& text, size_t index) {
    elaborate::Program program;
    elaborate::FileModule* module = elaborate::load_text(program, std::string(kPath), text);
    auto scripts = elaborate::scripts(*module);
    std::unique_ptr<ir::Model> model =
        elaborate::compile_model(program, *scripts[index], small_options());
    if (program.diagnostics.has_errors()) {
        return;
    }
    SDX_CHECK(ir::verify(*model).empty());
    Result<std::string> bytes = proto::write_model(*model);
    SDX_CHECK(bytes.ok());
    SDX_CHECK(proto::read_model(std::as_bytes(std::span<const char>(*bytes)), nullptr).ok());
}

void check_function(const std::string& text, size_t index) {
    elaborate::Program program;
    elaborate::FileModule* module = elaborate::load_text(program, std::string(kPath), text);
    auto scripts = elaborate::scripts(*module);
    std::unique_ptr<ir::Model> model =
        elaborate::compile_function(program, *scripts[index], small_options());
    if (program.diagnostics.has_errors()) {
        return;
    }
    SDX_CHECK(ir::verify(*model).empty());
    Result<std::string> bytes = proto::write_function(*model, *model->functions.front());
    SDX_CHECK(bytes.ok());
    SDX_CHECK(proto::read_function(std::as_bytes(std::span<const char>(*bytes)), nullptr).ok());
}

size_t count_scripts(const std::string& text) {
    elaborate::Program program;
    return elaborate::scripts(*elaborate::load_text(program, std::string(kPath), text)).size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    size_t count = count_scripts(text);
    for (size_t i = 0; i < count && i < 8; ++i) {
        check_model(text, i);
        check_function(text, i);
    }
    return 0;
}
