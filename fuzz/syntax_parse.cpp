// Any bytes as a script: the parser must come back, and the tree must be fit for walking.
#include <cstddef>
#include <cstdint>
#include <string>

#include "syntax/dump.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace sardonyx;
    diagnostics::Sources sources;
    std::string text(reinterpret_cast<const char*>(data), size);
    diagnostics::FileId file = sources.add("fuzz.py", text);
    diagnostics::Diagnostics findings;
    syntax::Tree tree = syntax::parse(sources, file, findings);
    syntax::dump_tree(tree, {true});
    syntax::dump_tokens(sources, file);
    for (const diagnostics::Diagnostic& item : findings.items()) {
        for (const diagnostics::Label& label : item.labels) {
            SDX_CHECK(label.span.begin <= label.span.end && label.span.end <= size);
        }
        SDX_CHECK(!item.help.empty());
    }
    syntax::parse_statement(sources, file, static_cast<uint32_t>(size / 2), findings);
    syntax::parse_annotation(tree, text, {0, 0}, findings);
    return 0;
}
