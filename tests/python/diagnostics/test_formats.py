"""Findings as JSON and as SARIF 2.1.0: what sdx_diagnostics_tool answers, read back.

The checks of SARIF follow the standard's sections on required properties and on types; the section
is named at each.
"""

from __future__ import annotations

import json
import re
import urllib.parse

from places import BUILD
from tool import ask_all

TOOL = BUILD / "sdx_diagnostics_tool"


def output(form: str) -> object:
    ((answer,),) = ask_all(TOOL, [[form]])
    text = bytes.fromhex(answer)
    assert re.search(rb"[\x00-\x09\x0b-\x1f]", text) is None
    return json.loads(text.decode())


def test_json_is_sorted_and_holds_each_finding_once() -> None:
    findings = output("json")
    assert isinstance(findings, list)
    assert [(f["code"], f["severity"]) for f in findings] == [
        ("remark", "note"),
        ("broadcast-mismatch", "error"),
        ("unused-name", "warning"),
        ("broadcast-mismatch", "error"),
    ]
    nowhere, mismatch, unused, broken = findings
    assert nowhere["file"] is None and nowhere["range"] is None
    assert mismatch["file"] == "examples/my script.py"
    assert mismatch["range"] == {
        "start": {"line": 1, "column": 5, "offset": 4},
        "end": {"line": 1, "column": 10, "offset": 9},
    }
    assert [label["message"] for label in mismatch["labels"]] == [
        "here",
        "`FLOAT[4]`",
        "called from here",
    ]
    assert mismatch["help"] == 'add `c` and "d"'
    assert [edit["replacement"] for edit in mismatch["edits"]] == ["c", "h, "]
    assert mismatch["edits"][1]["range"]["start"]["offset"] == 4
    assert unused["range"]["start"] == {"line": 2, "column": 1, "offset": 10}
    # Columns count code points, offsets bytes.
    assert broken["range"]["start"] == {"line": 2, "column": 10, "offset": 22}
    assert broken["message"] == "bytes \ufffd and \x01"


def check_region(region: dict) -> None:
    for key in ("startLine", "startColumn", "endLine", "endColumn"):  # 3.30.5 to 3.30.8
        assert isinstance(region[key], int) and region[key] >= 1
    assert (region["endLine"], region["endColumn"]) >= (region["startLine"], region["startColumn"])
    assert region["byteOffset"] >= 0 and region["byteLength"] >= 0  # 3.30.11, 3.30.12


def check_artifact(artifact: dict) -> None:
    reference = artifact["uri"]  # 3.4.3, RFC 3986
    assert re.fullmatch(r"[A-Za-z0-9._~/:%-]+", reference)
    assert urllib.parse.urlparse(reference).scheme in ("", "file")


def check_location(location: dict) -> None:
    physical = location["physicalLocation"]  # 3.28.3
    check_artifact(physical["artifactLocation"])
    check_region(physical["region"])
    if "message" in location:
        assert location["message"]["text"]


def test_sarif_is_well_formed() -> None:
    log = output("sarif")
    assert isinstance(log, dict)
    assert set(log) <= {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"  # 3.13.2
    (run,) = log["runs"]
    driver = run["tool"]["driver"]  # 3.18.2, 3.19.8
    assert driver["name"] == "sardonyx"
    assert run["columnKind"] == "unicodeCodePoints"  # 3.14.17
    rules = driver["rules"]
    identifiers = [rule["id"] for rule in rules]  # 3.49.3
    assert identifiers == ["broadcast-mismatch", "remark", "unused-name"]
    for rule in rules:
        assert rule["defaultConfiguration"]["level"] in ("note", "warning", "error")
    assert len(run["results"]) == 4
    for result in run["results"]:
        assert result["message"]["text"]  # 3.27.11
        assert result["level"] in ("note", "warning", "error")  # 3.27.10
        assert identifiers[result["ruleIndex"]] == result["ruleId"]  # 3.27.6
        assert rules[result["ruleIndex"]]["defaultConfiguration"]["level"] == result["level"]
        for location in result["locations"]:
            check_location(location)
        for location in result.get("relatedLocations", []):
            check_location(location)
        ids = [location["id"] for location in result.get("relatedLocations", [])]
        assert len(set(ids)) == len(ids)  # 3.28.2
        for fix in result.get("fixes", []):  # 3.55
            assert fix["description"]["text"] and fix["artifactChanges"]
            for change in fix["artifactChanges"]:
                check_artifact(change["artifactLocation"])
                assert change["replacements"]
                for replacement in change["replacements"]:
                    check_region(replacement["deletedRegion"])
                    assert isinstance(replacement["insertedContent"]["text"], str)


def test_sarif_says_what_the_finding_says() -> None:
    log = output("sarif")
    assert isinstance(log, dict)
    mismatch = log["runs"][0]["results"][1]
    assert mismatch["message"]["text"].splitlines() == [
        "`FLOAT[2, 3]` and `FLOAT[4]` do not broadcast",
        "note: dimensions are compared from the last to the first",
        'help: add `c` and "d"',
    ]
    (place,) = mismatch["locations"]
    assert place["message"]["text"] == "here"
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "examples/my%20script.py"
    here, there = mismatch["relatedLocations"]
    assert here["message"]["text"] == "`FLOAT[4]`"
    uri = there["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "file:///lib/odd%FF%1B.py"
    changes = mismatch["fixes"][0]["artifactChanges"]
    assert [len(change["replacements"]) for change in changes] == [1, 1]
