import Foundation
import PushSupport
import Testing

@Suite struct JSONWriterTests {
    @Test func partsMakeOneText() {
        var json = JSONWriter(capacity: 64)
        json.raw(#"{"a":"#)
        json.string("x")
        json.raw(#","b":"#)
        json.string(nil)
        json.raw(#","c":"#)
        json.integer(-7)
        json.raw(#","d":"#)
        json.integer(nil)
        json.raw(#","e":"#)
        json.hexadecimal([0x00, 0xaf])
        json.raw(#","f":"#)
        json.raw(Data("[]".utf8))
        json.raw("}")
        let text = #"{"a":"x","b":null,"c":-7,"d":null,"e":"00af","f":[]}"#
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }

    @Test func noCharacterEndsAString() throws {
        let text = String(String.UnicodeScalarView((0..<0x90).compactMap(Unicode.Scalar.init))) + "\u{1F600}"
        var json = JSONWriter()
        json.string(text)
        #expect(try JSONValue(parsing: Data(json.bytes)) == .string(text))
        json = JSONWriter()
        json.string("\"\\\u{08}\t\n\u{0c}\r\u{0b}")
        #expect(String(decoding: json.bytes, as: UTF8.self) == #""\"\\\b\t\n\f\r\u000b""#)
    }

    @Test func valuesAreWrittenInCanonicalForm() throws {
        let value = JSONValue.object(["b": .array([.null, .bool(true), .number(2), .number(0.5)]), "a": .object([:])])
        #expect(String(decoding: try value.text, as: UTF8.self) == #"{"a":{},"b":[null,true,2,0.5]}"#)
        #expect(throws: EncodingError.self) { try JSONValue.number(.infinity).text }
    }
}
