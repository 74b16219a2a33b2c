import Foundation
import PushSupport
import Testing

@Suite struct JSONNestingTests {
    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func sixtyFourLevelsAreAcceptedAndNotMore(start: String, end: String) throws {
        #expect(throws: Never.self) { try Self.parse(start, end, depth: 64) }
        let refusal = #expect(throws: RequestError.self) { try Self.parse(start, end, depth: 65) }
        #expect(refusal?.code == "too_deep")
        #expect(refusal?.kind == .invalid)
    }

    @Test func aHundredThousandOpenBracketsOverflowNothing() {
        let refusal = #expect(throws: RequestError.self) {
            try JSONValue(parsing: Data(repeating: UInt8(ascii: "["), count: 100_000))
        }
        #expect(refusal?.code == "too_deep")
    }

    @Test(arguments: [
        #"["\#(String(repeating: "[", count: 100))"]"#, #"["\"\#(String(repeating: "{", count: 100))\\"]"#,
    ])
    func bracketsInStringsAreIgnored(text: String) {
        #expect(throws: Never.self) { try JSONValue(parsing: Data(text.utf8)) }
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32])
    func onlyUTF8IsAccepted(encoding: String.Encoding) throws {
        let text = try #require(#"["∀",1]"#.data(using: encoding))
        let refusal = #expect(throws: RequestError.self) { try JSONValue(parsing: text) }
        #expect(refusal?.code == "invalid_json")
    }

    private static func parse(_ start: String, _ end: String, depth: Int) throws {
        let text = String(repeating: start, count: depth) + "1" + String(repeating: end, count: depth)
        _ = try JSONValue(parsing: Data(text.utf8))
    }
}
