import PushSupport
import PushTesting
import Testing

@testable import ProviderModel

@Suite struct TemplateTextTests {
    @Test(
        arguments: [
            ("", []), ("text", [.text("text")]), ("{{a}}", [.variable(name: "a", fallback: nil)]),
            ("{{ a }}", [.variable(name: "a", fallback: nil)]), ("{{a|}}", [.variable(name: "a", fallback: "")]),
            ("{{a| b|c }}", [.variable(name: "a", fallback: " b|c ")]),
            ("x{{a}}y", [.text("x"), .variable(name: "a", fallback: nil), .text("y")]),
            ("{{{{a}}", [.text("{{a}}")]),
            ("{{{a}}}", [.text("{"), .variable(name: "a", fallback: nil), .text("}")]),
            ("{{{{{{{a}}", [.text("{{{"), .variable(name: "a", fallback: nil)]), ("{ { a } }", [.text("{ { a } }")]),
            ("}} {", [.text("}} {")]),
            ("{{first name}}", [.variable(name: "first name", fallback: nil)]),
            ("{{größe|é}}", [.variable(name: "größe", fallback: "é")]),
            ("{{a|b}}}", [.variable(name: "a", fallback: "b"), .text("}")]),
        ] as [(String, [TemplateText.Part])]
    )
    func aTextIsTakenApart(text: String, parts: [TemplateText.Part]) throws {
        #expect(try TemplateText(parsing: text).parts == parts)
    }

    @Test(arguments: ["{{", "{{a", "{{a}", "{{}}", "{{ }}", "{{|x}}", "{{a\"b}}", "{{a\nb}}", "{{a\\b}}"])
    func invalidTemplatesAreRejected(text: String) {
        #expect(throws: TemplateText.ParseError.self) { try TemplateText(parsing: text) }
    }

    @Test func aNameHasALimit() throws {
        let name = String(repeating: "n", count: TemplateText.maximumName)
        #expect(try TemplateText(parsing: "{{\(name)}}").parts.count == 1)
        #expect(throws: TemplateText.ParseError.self) { try TemplateText(parsing: "{{\(name)n}}") }
    }

    @Test func theMemberAtFaultIsNamed() {
        let payload = #"{"aps":{"alert":"x"},"list":["a",{"b":"{{c"}]}"#
        let refusal = Content.error(#"{"payload":\#(payload),"template":true}"#)
        #expect(refusal?.code == "invalid_template")
        #expect(refusal?.path == "payload.list[1].b")
        #expect(Content.error(#"{"alert":{"titleLocKey":"{{"},"template":true}"#)?.path == "alert.titleLocKey")
        let german = #"{"alert":"x","localizations":{"de_DE":{"body":"{{"}},"template":true}"#
        #expect(Content.error(german)?.path == "localizations.de_DE.alert.body")
    }

    @Test func variablesHaveALimit() {
        let text = (0..<65).map { "{{v\($0)|}}" }.joined()
        #expect(Content.error(#"{"alert":"x\#(text)","template":true}"#)?.code == "too_many")
    }

    @Test func anyBracesAreReadOrRejected() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let text = (0..<10).compactMap { _ in "{{}}|a é\"".randomElement(using: &generator) }
            let template = try? TemplateText(parsing: String(text))
            if !TemplateText.hasMarks(String(text)) { #expect(template?.parts.count ?? -1 == 1) }
        }
    }
}
