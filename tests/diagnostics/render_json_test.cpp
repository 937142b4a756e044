// The two forms for programs at their smallest; tests/python/diagnostics/test_formats.py reads
// more.
#include <gtest/gtest.h>

#include "samples.h"

namespace sardonyx::diagnostics {
namespace {

TEST(RenderJson, NoFindings) {
    EXPECT_EQ(render_json({}, {}), "[]\n");
    EXPECT_NE(render_sarif({}, {}).find("\"results\": []"), std::string::npos);
}

TEST(RenderJson, OneFinding) {
    Sources sources;
    FileId f = sources.add("f.py", "a\n\u00e9 = b\n");
    Diagnostics findings;
    findings.report(kUnusedName, span_of(sources, f, "b"), "`b` is unknown").note("a note");
    EXPECT_EQ(render_json(sources, findings), R"([
  {
    "code": "unused-name",
    "severity": "warning",
    "message": "`b` is unknown",
    "file": "f.py",
    "range": {
      "start": {
        "line": 2,
        "column": 5,
        "offset": 7
      },
      "end": {
        "line": 2,
        "column": 6,
        "offset": 8
      }
    },
    "labels": [
      {
        "file": "f.py",
        "range": {
          "start": {
            "line": 2,
            "column": 5,
            "offset": 7
          },
          "end": {
            "line": 2,
            "column": 6,
            "offset": 8
          }
        },
        "message": ""
      }
    ],
    "notes": [
      "a note"
    ],
    "help": null,
    "edits": []
  }
]
)");
}

}  // namespace
}  // namespace sardonyx::diagnostics
