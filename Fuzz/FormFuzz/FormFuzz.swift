import Foundation
import Fuzzing

@testable import PushHTTP

/// Fuzzes forms of older systems: multipart, percent-encoded and JSON. The first byte of an input selects one. In one kind of
/// multipart the first line is the content type.
@main
enum FormFuzz {
    static func main() {
        Fuzzer.run { input in
            let rest = Array(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 0: Self.check(try? MultipartForm.fields(of: rest, contentType: "multipart/form-data; boundary=x"))
            case 1:
                let type = String(decoding: rest.prefix { $0 != 0x0a }, as: UTF8.self)
                let body = Array(rest.drop { $0 != 0x0a }.dropFirst())
                Self.check(try? MultipartForm.fields(of: body, contentType: type))
            case 2: Self.check(try? FormData(urlEncoded: rest))
            case nil: break
            default: Self.check(try? FormData(json: rest))
            }
        }
    }

    private static let limits = FormData.Limits()

    /// Checks that accepted fields keep the limits, and are the same after encoding in both forms.
    private static func check(_ form: FormData?) {
        guard let form else { return }
        precondition(form.fields.count <= Self.limits.count, "\(form.fields.count) fields")
        for field in form.fields {
            precondition(field.name.utf8.count <= Self.limits.name, "a name of \(field.name.utf8.count) bytes")
            precondition(
                field.value.utf8.count <= Self.limits.value,
                "a value of \(field.value.utf8.count) bytes"
            )
            precondition(form[field.name] != nil, "not found by its name: \(field.name)")
        }
        let pairs = form.fields.map { "\(Self.percentEncoded($0.name))=\(Self.percentEncoded($0.value))" }
        let named = form.fields.filter { !$0.name.isEmpty || !$0.value.isEmpty }
        let encoded = try? FormData(urlEncoded: pairs.joined(separator: "&").utf8)
        precondition(encoded?.fields == named, "not the same percent-encoded: \(form.fields)")
        Self.checkMultipart(form)
    }

    private static func checkMultipart(_ form: FormData) {
        let fields = form.fields.filter { !$0.name.isEmpty && !$0.name.utf8.contains { $0 == 0x0a || $0 == 0x0d } }
        var boundary = "b"
        while form.fields.contains(where: { $0.value.contains(boundary) }) { boundary += "b" }
        guard boundary.utf8.count <= 70 else { return }
        let parts = fields.map { field in
            let name = field.name.utf8.flatMap { $0 == 0x22 || $0 == 0x5c ? [0x5c, $0] : [$0] }
            let head = "--\(boundary)\r\nContent-Disposition: form-data; name=\""
            return Array(head.utf8) + name + Array("\"\r\n\r\n\(field.value)\r\n".utf8)
        }
        let body = parts.flatMap(\.self) + Array("--\(boundary)--\r\n".utf8)
        let again = try? MultipartForm.fields(of: body, contentType: "multipart/form-data; boundary=\(boundary)")
        precondition(again?.fields == fields, "not the same as multipart: \(fields)")
    }

    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }
}
