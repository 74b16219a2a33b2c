import Foundation
import PushTesting
import Testing

@testable import PushSupport

/// The parser and the writer say what Foundation's said before them, and cost no more than their text is long.
@Suite struct JSONParserTests {
    /// As it was read before: by trying one type after the other.
    private static func foundation(_ text: String) -> JSONValue? {
        try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    private static func parse(_ text: String) -> JSONValue? {
        try? JSONValue(parsing: Data(text.utf8))
    }

    @Test(arguments: [#"{"a":1,"a":1}"#, #"{"a":1,"b":{"c":1,"c":2}}"#, #"[{"a":null,"\u0061":null}]"#])
    func membersWithTheSameNameCanBeRefused(text: String) throws {
        #expect(throws: Never.self) { try JSONValue(parsing: Data(text.utf8)) }
        #expect(throws: RequestError.self) { try JSONValue(parsing: Data(text.utf8), refusesDuplicates: true) }
        let other = Data(#"{"a":{"a":1},"A":[{"a":1},{"a":1}]}"#.utf8)
        #expect(throws: Never.self) { try JSONValue(parsing: other, refusesDuplicates: true) }
    }

    @Test(arguments: [
        "0", "-0", "-1", "12", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "1.0", "1.5", "-1.25", "1e2", "1E+2", "1e-2", "100e-2", "1e18", "1e19", "1e300",
        "9007199254740993.0", "9007199254740992.0", "92233922337203680.405", "1234567890123456789.0", "0.1", "1e-400",
        "01", "-", "+1", ".5", "5.", "1e", "1e+", "0x10", "NaN", "Infinity", "1e400", "-1e400", "--1", "1.e1",
    ])
    func numbersAreReadAsByFoundation(text: String) {
        #expect(Self.parse(text) == Self.foundation(text))
        #expect(Self.parse("[\(text)]") == Self.foundation("[\(text)]"))
    }

    @Test(arguments: [
        #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#, #""\u00e9""#, #""\u0000""#, #""\ud83d\ude00""#, #""\uD83D\uDE00x""#,
        #""\ud83d""#, #""\ude00""#, #""\ud83d\ud83d""#, #""\ud83dx""#, #""\ud83d\n""#, #""\u12""#, #""\u12g4""#,
        #""\x""#, #""\""#, #"""#, "\"\u{01}\"", "\"\n\"", "\"\u{7f}\"", "\"é∀😀\"", #""a"b"#, "'a'",
    ])
    func stringsAreReadAsByFoundation(text: String) {
        #expect(Self.parse(text) == Self.foundation(text))
        #expect(Self.parse(#"{\#(text):1}"#) == Self.foundation(#"{\#(text):1}"#))
    }

    @Test(arguments: [
        "", " ", "null", "true", "false", "tru", "nulll", "True", " [ ] ", "\t{\r\n}\n", "[,1]", "[1 2]", "[", "]",
        #"{"a":1,"a":2}"#, #"{"a":{"b":1},"a":null}"#, #"{"é":1,"e\u0301":2}"#, #"{"a"}"#, #"{"a":}"#,
        #"{a:1}"#, "{}{}", "[] x", "\u{feff}[]", "\u{0b}[]", "[1]//", "{\"a\" : [ 1 , {\"b\":[]} ] }",
    ])
    func structuresAreReadAsByFoundation(text: String) {
        #expect(Self.parse(text) == Self.foundation(text))
    }

    /// Foundation took a comma before the end.
    @Test(arguments: ["[1,]", #"{"a":1,}"#, "[1,,2]"]) func anExtraCommaIsRejected(text: String) {
        let refusal = #expect(throws: RequestError.self) { try JSONValue(parsing: Data(text.utf8)) }
        #expect(refusal?.code == "invalid_json")
    }

    @Test(
        arguments: [
            [0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xe2, 0x88, 0x22],
            [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], [0xff],
        ] as [[UInt8]]
    )
    func textOtherThanUTF8IsRejected(bytes: [UInt8]) {
        let refusal = #expect(throws: RequestError.self) { try JSONValue(parsing: Data(bytes)) }
        #expect(refusal?.code == "invalid_json")
    }

    /// Stored texts and their hashes depend on it.
    @Test func writtenTextHasTheBytesOfFoundation() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<500 {
            let value = JSONValue.random(depth: 4, using: &generator)
            let text = try value.text
            #expect(text == (try encoder.encode(value)), "\(value)")
            #expect(try JSONValue(parsing: text) == JSONDecoder().decode(JSONValue.self, from: text))
        }
        #expect(throws: EncodingError.self) { try JSONValue.number(.infinity).text }
    }

    /// The work is bounded by the number of values, not only by bytes: a megabyte of `{}` is refused before it is all read.
    @Test func valuesAreLimited() throws {
        let most = 250_000
        let fits = "[" + String(repeating: "{},", count: most - 2) + "{}]"
        guard case .array(let values) = try JSONValue(parsing: Data(fits.utf8)) else { throw CancellationError() }
        #expect(values.count == most - 1)
        let refusal = #expect(throws: RequestError.self) {
            try JSONValue(parsing: Data(("[" + String(repeating: "{},", count: most) + "{}]").utf8))
        }
        #expect(refusal?.code == "too_many_values")
    }
}

extension JSONValue {
    private static let texts = [
        "", "a", "A", "b10", "b9", "é", "e\u{301}", "z", "/", "\"\\", "\u{01}\u{1f}\n\t\r\u{08}\u{0c}", "😀", "\u{7f}",
        "ß", "_",
    ]
    private static let numbers: [Double] = [
        0.5, -0.0, 1e20, 1e-7, 123_456_789.25, 1e16, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 3,
    ]

    fileprivate static func random(depth: Int, using generator: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0...(depth > 0 ? 6 : 4), using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2: return .integer(.random(in: .min ... .max, using: &generator))
        case 3: return .number(Self.numbers.randomElement(using: &generator) ?? 0.5)
        case 4: return .string(Self.texts.randomElement(using: &generator) ?? "")
        case 5:
            let count = Int.random(in: 0...4, using: &generator)
            return .array((0..<count).map { _ in Self.random(depth: depth - 1, using: &generator) })
        default:
            var members: [String: JSONValue] = [:]
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                let name = Self.texts.randomElement(using: &generator) ?? ""
                members[name] = Self.random(depth: depth - 1, using: &generator)
            }
            return .object(members)
        }
    }
}
