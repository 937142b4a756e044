// Prints a fixed set of findings as `json` or `sarif`, for
// tests/python/diagnostics/test_formats.py.
#include <cstdio>
#include <string>
#include <string_view>

#include "samples.h"

int main(int argc, char** argv) {
    using namespace sardonyx::diagnostics;
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
    std::string_view format = argc == 2 ? argv[1] : "";
    if (format != "json" && format != "sarif") {
        std::fputs("usage: sdx_diagnostics_tool json | sarif\n", stderr);
        return 2;
    }
    std::string text =
        format == "json" ? render_json(sources, findings) : render_sarif(sources, findings);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}
