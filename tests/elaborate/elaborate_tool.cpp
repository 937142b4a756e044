// Compiles scripts, for tests/python/language/test_language.py. Each line of stdin is
//   path of the .py file <tab> script <tab> model|function <tab> path to write
// and is answered by one line: "ok" or "error", and for each finding <tab> code:line, where the
// line is that of the first label, 0 when it has none. A script of an empty name is the file's
// last one; a path that is empty writes nothing.
#include <algorithm>
#include <string>
#include <vector>

#include "../requests.h"
#include "base/write_file.h"
#include "elaborate/elaborate.h"
#include "ir/verify.h"
#include "proto/proto.h"
#include "weights/weights.h"

namespace {

namespace diagnostics = sardonyx::diagnostics;
namespace elaborate = sardonyx::elaborate;
namespace ir = sardonyx::ir;
namespace proto = sardonyx::proto;
using sardonyx::Error;
using sardonyx::Result;

std::string findings(const elaborate::Program& program) {
    std::string text;
    for (const diagnostics::Diagnostic& item : program.diagnostics.items()) {
        diagnostics::Span span = item.labels.empty() ? diagnostics::Span() : item.labels[0].span;
        uint32_t line =
            span.valid() ? program.sources.position(span.file, span.begin).line : uint32_t{0};
        text += "\t" + std::string(item.kind->code) + ":" + std::to_string(line);
    }
    return text;
}

Result<void> compile(elaborate::Program& program, const elaborate::ScriptFunction& script,
                     bool as_function, const std::string& target) {
    std::unique_ptr<ir::Model> model = as_function
                                           ? elaborate::compile_function(program, script, {})
                                           : elaborate::compile_model(program, script, {});
    if (program.diagnostics.has_errors()) {
        return {};
    }
    std::vector<std::string> wrong = ir::verify(*model);
    if (!wrong.empty()) {
        return Error{"the verifier says: " + wrong[0]};
    }
    Result<std::string> bytes = as_function
                                    ? proto::write_function(*model, *model->functions.front())
                                    : proto::write_model(*model);
    SDX_TRY(bytes);
    return target.empty() ? Result<void>() : sardonyx::write_file(target, *bytes);
}

std::string answer(const std::vector<std::string>& fields) {
    elaborate::Program program(sardonyx::weights::read_weights);
    elaborate::FileModule* module = elaborate::load_file(program, fields[0]);
    Result<void> done;
    if (module != nullptr) {
        auto scripts = elaborate::scripts(*module);
        std::shared_ptr<elaborate::ScriptFunction> found;
        if (!fields[1].empty() || !scripts.empty()) {
            found = elaborate::find_script(*module,
                                           fields[1].empty() ? scripts.back()->name : fields[1]);
        }
        if (found != nullptr) {
            done = compile(program, *found, fields[2] == "function", fields[3]);
        } else if (!program.diagnostics.has_errors()) {
            done = Error{"no such script"};
        }
    }
    if (!done.ok()) {
        return "failed\t" + done.error().message + findings(program);
    }
    return (program.diagnostics.has_errors() ? "error" : "ok") + findings(program);
}

}  // namespace

int main() {
    return sardonyx::test::serve(4, answer);
}
