import PushSupport
import Testing

@testable import martlet

@Suite struct AttributeValueTests {
    @Test(arguments: [
        ("level=7", JSONValue.integer(7)), ("score=1.5", .number(1.5)), ("paid=true", .bool(true)),
        ("zip=\"01234\"", .string("01234")), ("name=nan", .string("nan")), ("name=infinity", .string("infinity")),
        ("note=a=b", .string("a=b")), ("empty=", .string("")), ("big=99999999999999999999", .number(1e20)),
    ])
    func attributesAreNumbersWhereTheyLookLikeOne(text: String, value: JSONValue) {
        #expect(AttributeValue(argument: text)?.value == value)
    }

    @Test(arguments: ["", "=x", "name"]) func aTextWithoutANameIsNoAttribute(text: String) {
        #expect(AttributeValue(argument: text) == nil)
    }
}
