import PushSupport
import PushTesting
import Testing

@testable import ProviderModel

@Suite struct TemplateVariablesTests {
    private func filled(_ variables: JSONValue, _ content: [String: JSONValue]) throws -> [String: JSONValue] {
        let fields = try JSONFields(members: ["variables": variables], path: "template", known: ["variables"])
        return try TemplateVariables(fields).filled(content, at: "template")
    }

    @Test func valuesTakeThePlaceOfTheirVariablesOnly() throws {
        let content: [String: JSONValue] = [
            "template": true, "collapseId": "{{code}}",
            "alert": ["title": "{{ code }} for {{name|you}}", "body": "{{count}} {{{{code}} {{code|none}}"],
            "data": ["list": ["{{flag}}", 7]],
        ]
        let filled = try self.filled(["code": "A{{1", "count": 3, "flag": true], content)
        #expect(filled["alert"] == ["title": "A{{{{1 for {{name|you}}", "body": "3 {{{{code}} A{{{{1"])
        #expect(filled["data"] == ["list": ["true", 7]])
        #expect(filled["collapseId"] == "{{code}}", "a header has no variables")
    }

    /// Braces that a value brings form no variable, whatever they stand beside.
    @Test(arguments: ["{", "{{", "{{{", "{{name}}", "{name}}", "}", "}}"])
    func aValueIsNeverPartOfAVariable(value: String) throws {
        let content: [String: JSONValue] = ["template": true, "alert": "{{code}}{name}}{{code}}{{name}}{{code}}{"]
        let filled = try self.filled(["code": .string(value)], content)
        let parts = try TemplateText(parsing: try #require(filled["alert"]?.stringValue)).parts
        #expect(
            parts == [
                .text("\(value){name}}\(value)"), .variable(name: "name", fallback: nil), .text("\(value){"),
            ]
        )
    }

    @Test(
        arguments: [
            (["other": "x"], true, "unknown_variable", "template.variables.other"),
            (["code": "x"], false, "conflicting_field", "template.variables"),
            (["code": ["x"]], true, "wrong_type", "template.variables.code"),
            (["code": .string(String(repeating: "x", count: 2049))], true, "too_long", "template.variables.code"),
        ] as [(JSONValue, Bool, String, String)]
    )
    func aFaultNamesItsMember(variables: JSONValue, isTemplate: Bool, code: String, field: String) {
        let error = #expect(throws: RequestError.self) {
            try self.filled(variables, ["alert": "{{code}}", "template": .bool(isTemplate)])
        }
        #expect(error?.code == code)
        #expect(error?.path == field)
    }
}
