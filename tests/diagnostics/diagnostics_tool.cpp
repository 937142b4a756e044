// Answers `json` and `sarif` with a fixed set of findings in this form, as bytes, for
// tests/python/diagnostics/test_formats.py.
#include <string>
#include <vector>

#include "../requests.h"
#include "samples.h"

namespace {

using namespace sardonyx::diagnostics;

std::string answer(const std::vector<std::string>& fields) {
    Sources sources;
    FileId script = sources.add("examples/my script.py", "y = x + b\nz = \u00e9\u6f22 + q\n");
    FileId library = sources.add("/lib/odd\xff\x1b.py", "def g(): pass\n");
    Diagnostics findings;
    findings.report(kUnusedName, span_of(sources, script, "z"), "`z` is never used");
    Diagnostic& added = findings.report(kBroadcastMismatch, span_of(sources, script, "x + b"),
                                        "`FLOAT[2, 3]` and `FLOAT[4]` do not broadcast");
    added.labels[0].message = "here";
    added.label(span_of(sources, script, "b"), "`FLOAT[4]`")
        .label(span_of(sources, library, "g()"), "called from here")
        .note("dimensions are compared from the last to the first")
        .with_help("add `c` and \"d\"")
        .edit(span_of(sources, script, "b"), "c")
        .edit({library, 4, 4}, "h, ");
    findings.report(kBroadcastMismatch, span_of(sources, script, "q"), "bytes \xc3 and \x01");
    findings.report(kRemark, {}, "nowhere").edit({}, "nothing");
    findings.report(kRemark, {}, "nowhere").edit({}, "nothing");
    if (fields[0] != "json" && fields[0] != "sarif") {
        return "unknown request";
    }
    return sardonyx::test::to_hex(fields[0] == "json" ? render_json(sources, findings)
                                                      : render_sarif(sources, findings));
}

}  // namespace

int main() {
    return sardonyx::test::serve(1, answer);
}
