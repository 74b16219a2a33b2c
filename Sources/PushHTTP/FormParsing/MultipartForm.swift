import NIOCore
package import PushSupport

/// A parser of `multipart/form-data` (RFC 7578), for a whole body.
package enum MultipartForm {
    /// - Parameter contentType: The value of `content-type` with the boundary.
    package static func fields(
        of body: [UInt8],
        contentType: String,
        limits: FormData.Limits = FormData.Limits()
    ) throws(RequestError) -> FormData {
        var reader = try MultipartReader(contentType: contentType, limits: limits)
        reader.append(ByteBuffer(bytes: body))
        var fields = FormData(limits: limits)
        var file = (name: "", fileName: "", content: [UInt8]())
        while let event = try reader.next() {
            switch event {
            case .field(let name, let value): try fields.add(name, value)
            case .fileBegan(let name, let fileName, _): file = (name, fileName, [])
            case .fileBytes(let bytes): file.content.append(contentsOf: bytes.readableBytesView)
            case .fileEnded:
                try fields.add(FormFile(name: file.name, fileName: file.fileName, content: file.content))
            case .ended: return fields
            }
        }
        throw reader.unfinished
    }
}

/// The parameters of a header field such as `form-data; name="token"` (RFC 9110 section 5.6.6).
struct MIMEParameters: Equatable {
    private var values: [String: String] = [:]

    /// Parses leniently: a parameter without a value is ignored, and the first of repeated ones counts.
    ///
    /// It works on scalars, because a delimiter and a combining mark behind it are one character to Swift.
    init(_ text: String) {
        var rest = Substring(text).unicodeScalars.drop { $0 != ";" }
        while rest.popFirst() != nil {
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { continue }
            rest.removeFirst()
            let value = Self.value(&rest)
            let key = String(Substring(name.drop { $0.properties.isWhitespace })).lowercased()
            if self.values[key] == nil { self.values[key] = value }
            rest = rest.drop { $0 != ";" }
        }
    }

    subscript(name: String) -> String? { self.values[name] }

    /// Takes a value, which may be quoted, off the text. A backslash quotes the character behind it.
    private static func value(_ rest: inout Substring.UnicodeScalarView) -> String {
        guard rest.first == "\"" else {
            let value = rest.prefix { $0 != ";" }
            rest = rest.dropFirst(value.count)
            let token = value.split { $0.properties.isWhitespace }.first
            return token.map { String(Substring($0)) } ?? ""
        }
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            if scalar == "\\", let escaped = rest.popFirst() {
                value.append(escaped)
            } else {
                value.append(scalar)
            }
        }
        return String(value)
    }
}
