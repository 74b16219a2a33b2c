import Foundation
import PushSupport
import PushTesting
import Testing

@testable import PushHTTP

@Suite struct FormDataTests {
    private static func multipart(_ text: String, _ contentType: String = "multipart/form-data; boundary=b") throws
        -> FormData
    {
        try MultipartForm.fields(of: Array(text.utf8), contentType: contentType)
    }

    @Test func percentEncodedFormsAreRead() throws {
        let form = try FormData(urlEncoded: "devId=a%20b+c&&TOKEN=x%3D%3d&empty=&bare&%C3%BC=1".utf8)
        #expect(form["devid"] == "a b c")
        #expect(form["token"] == "x==")
        #expect(form["empty"] == "")
        #expect(form["bare"] == "")
        #expect(form["ü"] == "1")
        #expect(form["none"] == nil)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%ff", String(repeating: "a=1&", count: 65)])
    func percentEncodedGarbageIsRejected(text: String) {
        #expect(throws: RequestError.self) { try FormData(urlEncoded: text.utf8) }
    }

    /// The store's texts end at a NUL, so that a name with one would be another name there.
    @Test func noFieldHasANUL() {
        for text in ["a=%00", "a=b%00c", "a%00=b", "a=b\0", "%00"] {
            let error = #expect(throws: RequestError.self) { try FormData(urlEncoded: text.utf8) }
            #expect(error?.code == "invalid_form", "\(text)")
        }
        for (name, value) in [("a", "b\0c"), ("a\0", "b")] {
            let part = "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n--b--"
            let error = #expect(throws: RequestError.self) { try Self.multipart(part) }
            #expect(error?.code == "invalid_form")
        }
        let error = #expect(throws: RequestError.self) { try FormData(json: Array(#"{"a":"b\u0000"}"#.utf8)) }
        #expect(error?.code == "invalid_form")
    }

    @Test(arguments: ["b", "\"b\"", "b; charset=utf-8", "\"b\" ; x=\"y;boundary=z\""])
    func multipartIsRead(boundary: String) throws {
        let text = """
            preamble\r\n--b \r\nContent-Type: text/plain\r\nContent-Disposition: form-data; filename="f"; name="a"\r
            \r\nline 1\r\n--c\r\nline 2\r\n--b\r\ncontent-disposition: form-data; NAME=\"q\\\"\"\r\n\r\n\r\n--b--epilogue
            """
        let form = try Self.multipart(text, "multipart/form-data; boundary=\(boundary)")
        #expect(form.fields.map(\.name) == ["a", "q\""])
        #expect(form.fields.map(\.value) == ["line 1\r\n--c\r\nline 2", ""])
    }

    @Test(arguments: [
        "", "--b", "--b\r\n", "--b\r\n\r\n", "--b\r\nx\r\n\r\n1\r\n--b--", "--b\r\nA: b\r\n\r\n1\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1", "--bx",
        "--b\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n1\r\n--b--",
        "--b\r\nA: \(String(repeating: "x", count: 5000))\r\n\r\n1\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\(String(repeating: "x", count: 9000))\r\n--b--",
        String(repeating: "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n", count: 65) + "--b--",
    ])
    func brokenMultipartIsRejected(text: String) {
        #expect(throws: RequestError.self) { try Self.multipart(text) }
    }

    @Test(arguments: ["", "; boundary=", "; boundary=\"\"", "; boundary=ü", "; boundary=\"a \""])
    func aBoundaryMustBeOne(parameters: String) {
        #expect(throws: RequestError.self) { try Self.multipart("--b--", "multipart/form-data\(parameters)") }
    }

    @Test func garbageNeverHarms() {
        var generator = SeededGenerator(seed: 11)
        let pieces = ["--b", "\r\n", "--", "Content-Disposition: form-data; name=", "\"", "a", ";", ":", "\\", "\u{0}"]
        var read = 0
        for _ in 0..<5000 {
            let text = (0..<20).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            if (try? Self.multipart(text)) != nil { read += 1 }
            if (try? FormData(json: Array(text.utf8))) != nil { read += 1 }
            _ = HeaderParameters(behindValue: text)
        }
        #expect(read < 5000)
    }

    @Test func aNameMayBeginWithACombiningMark() {
        #expect(
            HeaderParameters(behindValue: "form-data; name=\"\u{301}a;\\\"b\"; x=\u{301}y")["name"] == "\u{301}a;\"b"
        )
        #expect(HeaderParameters(behindValue: "form-data; name=\"\u{301}a\"; x=\u{301}y")["x"] == "\u{301}y")
    }

    @Test func jsonIsReadAsTheFrameworkNamesIt() throws {
        let form = try FormData(json: Array(#"{"apns_device":{"token":"x","n":1},"b":true,"c":[1],"d":null}"#.utf8))
        #expect(form["apns_device[token]"] == "x")
        #expect(form["apns_device[n]"] == "1")
        #expect(form["b"] == "1")
        #expect(form["c"] == nil)
    }
}
