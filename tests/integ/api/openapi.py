"""contrib/openapi.yaml: every answer of a test's hub is held against it."""
import json
import re

import jsonschema
import yaml

from hub import TOP

DOCUMENT = yaml.safe_load((TOP / "contrib/openapi.yaml").read_text())
PATHS = DOCUMENT["paths"]
seen = set()  # (method, path) of which a good answer was checked


def resolved(node):
    while "$ref" in node:
        target = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def schema_of(node):
    return {**node, "components": DOCUMENT["components"]}


def check(method, path, answer):
    """Raises if the document does not have this answer."""
    path = re.sub(r"^/q/[^/]+", "/q/{token}", path)
    if path not in PATHS:  # the page, and what is not there
        return
    operation = PATHS[path].get("get" if method == "HEAD" else method.lower())
    if operation is None or not answer.body:
        return
    responses = operation["responses"]
    content = resolved(responses.get(str(answer.status), responses["default"]))["content"]
    kind = answer.headers["Content-Type"]
    if kind not in content:
        raise AssertionError(f"{method} {path} {answer.status}: {kind}, not {list(content)}")
    if kind.endswith("json"):
        jsonschema.validate(json.loads(answer.body), schema_of(content[kind]["schema"]), jsonschema.Draft202012Validator)
    if answer.status < 300:
        seen.add((method.lower(), path))
