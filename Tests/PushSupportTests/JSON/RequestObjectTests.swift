import PushSupport
import Testing

/// What forms and options take from the list of a request's members.
@Suite struct RequestObjectTests {
    private enum Colour: String, CaseIterable {
        case red, green
    }

    private static let size = Member.integer("size", 1...5)
    private static let object = RequestObject(
        required: [Member.text("name", 1...200)],
        optional: [
            Member.choice("colour", of: Colour.self), Member.choice("shade", of: Colour.self).neverNull(),
            Member.texts("colours", 1...2, maximum: 16, as: .choice(of: Colour.self)),
            Member.object("box", RequestObject(optional: [Self.size])),
            Member.text("alert", maximum: 300, as: .any(of: [.string(length: 1...300), .object()])),
            Member.json("priority", as: .integer(of: [5, 10])), Member.bool("loud"),
        ]
    )

    @Test func theRequiredMembersAreKnown() { #expect(Self.object.required == ["name"]) }

    @Test func aMemberIsFoundByItsPath() {
        #expect(Self.object["name"].maximumLength == 200)
        #expect(Self.object["box.size"].range == 1...5)
        #expect(Self.object["box.size"].isNumber && !Self.object["name"].isNumber)
    }

    @Test(arguments: ["colour", "shade", "colours"]) func choicesAreThoseOfTheTypeWithoutNull(path: String) {
        #expect(Self.object[path].choices == ["red", "green"])
        #expect(Self.object[path].orNull.choices == ["red", "green"])
    }

    @Test func numbersCanBeChoices() {
        #expect(Self.object["priority"].choices == ["5", "10"])
        #expect(Self.object["priority"].range == nil)
        #expect(Self.object["loud"].choices.isEmpty)
    }

    @Test func aTextHasTheLengthsOfItsSchema() throws {
        let member = Member.text("name", 3...5)
        #expect(member.schema.json["minLength"] == .integer(3) && member.schema.json["maxLength"] == .integer(5))
        let codes = ["": "invalid_value", "ab": "too_short", "abcdef": "too_long"]
        for text in ["", "ab", "abc", "abcde", "abcdef"] {
            let fields = try JSONFields(.texts(["name": text]), known: ["name"])
            var code: String?
            do throws(RequestError) { _ = try fields.value(member) } catch { code = error.code }
            #expect(code == codes[text])
        }
    }

    @Test func aTextThatMayBeAnObjectHasAMaximum() { #expect(Self.object["alert"].maximumLength == 300) }
}
