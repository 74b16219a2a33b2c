"""The OpenAPI document of a running provider: its operations, their schemas, and the links between them."""

import json
import re

import jsonschema
from jsonschema.validators import Draft202012Validator


def exact(value):
    """The schemas with patterns whose end is the end: Python's `$` would allow a line break after it."""
    if isinstance(value, dict):
        return {name: member[:-1] + r"\Z" if name == "pattern" and member.endswith("$") else exact(member)
                for name, member in value.items()}
    return [exact(member) for member in value] if isinstance(value, list) else value


class Operation:
    def __init__(self, document, path, method, members):
        self.id, self.method, self.path = members["operationId"], method.upper(), path
        self.parameters = members["parameters"]
        self.path_names = [item["name"] for item in self.parameters if item["in"] == "path"]
        body = members.get("requestBody", {})
        self.bodies = {kind: content["schema"] for kind, content in body.get("content", {}).items()}
        self.needs_body = body.get("required", False)
        self.responses = {int(status): {kind: content["schema"] for kind, content in response.get("content", {}).items()}
                          for status, response in members["responses"].items()}
        # The operations that follow from an answer, each with the expressions of its parameters.
        self.links = {int(status): {link["operationId"]: link["parameters"] for link in response["links"].values()}
                      for status, response in members["responses"].items() if "links" in response}
        self.is_public = "registerSelf" in members.get("description", "")
        self.is_open = not members["security"]
        self.document = document

    def json_schema(self):
        return self.bodies.get("application/json")


class Document:
    def __init__(self, text):
        everything = exact(json.loads(text))
        self.schemas = everything["components"]["schemas"]
        self.operations = {}
        for path, item in everything["paths"].items():
            for method, members in item.items():
                operation = Operation(self, path, method, members)
                self.operations[operation.id] = operation
        self.validators = {}

    def resolve(self, schema):
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].rpartition("/")[2]]
        return schema

    def fault(self, schema, value):
        """Where and why a value has not this shape; None if it has."""
        if id(schema) not in self.validators:
            whole = {**schema, "components": {"schemas": self.schemas}}
            checker = jsonschema.FormatChecker(formats=["uuid", "date-time"])
            self.validators[id(schema)] = Draft202012Validator(whole, format_checker=checker)
        error = next(self.validators[id(schema)].iter_errors(value), None)
        return None if error is None else f"{error.json_path}: {error.message[:300]}"

    def parameter_fault(self, schema, text):
        """The same for a parameter, which is written as text."""
        schema = self.resolve(schema)
        choices = schema.get("anyOf", [schema])
        faults = []
        for choice in choices:
            value = text
            if choice.get("type") == "integer":
                # As JSON writes numbers: no plus sign, no zeros before others.
                value = int(text) if re.fullmatch("-?(0|[1-9][0-9]*)", text) else text
            faults.append(self.fault(choice, value))
        return None if None in faults else faults[0]
