package import PushSupport

/// A parser of `multipart/form-data` (RFC 7578), for a whole body.
package struct MultipartForm {
    /// The longest head of a part, in bytes.
    static let maximumHead = 4096

    private static let lineEnd: [UInt8] = [0x0d, 0x0a]

    private let body: [UInt8]
    private let delimiter: [UInt8]
    private let limits: FormFields.Limits
    private var position = 0

    private init(body: [UInt8], boundary: String, limits: FormFields.Limits) {
        (self.body, self.limits) = (body, limits)
        self.delimiter = Array("--\(boundary)".utf8)
    }

    /// - Parameter contentType: The value of `content-type` with the boundary.
    package static func fields(
        of body: [UInt8],
        contentType: String,
        limits: FormFields.Limits = FormFields.Limits()
    ) throws(RequestError) -> FormFields {
        guard let boundary = HeaderParameters(contentType)["boundary"], Self.isBoundary(boundary) else {
            throw FormFields.error("invalid_boundary", "multipart needs a boundary of 1 to 70 characters")
        }
        var form = MultipartForm(body: body, boundary: boundary, limits: limits)
        return try form.read()
    }

    /// Returns `true` for a valid boundary (RFC 2046 section 5.1.1).
    private static func isBoundary(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isAlphanumeric || "'()+_,-./:=? ".utf8.contains($0) }
            && text.utf8.last != UInt8(ascii: " ")
    }

    /// Reads all parts up to the closing delimiter (RFC 2046 section 5.1.1).
    private mutating func read() throws(RequestError) -> FormFields {
        var fields = FormFields(limits: self.limits)
        // The preamble before the first delimiter is ignored.
        guard self.body.starts(with: self.delimiter) || self.skip(past: Self.lineEnd + self.delimiter) else {
            throw Self.broken("it does not contain its boundary")
        }
        if self.position == 0 { self.position = self.delimiter.count }
        while true {
            if self.body[self.position...].starts(with: "--".utf8) { return fields }
            guard self.skip(past: Self.lineEnd) else { throw Self.broken("it ends after a boundary") }
            let head = try self.head()
            let start = self.position
            guard self.skip(past: Self.lineEnd + self.delimiter) else { throw Self.broken("a part has no end") }
            let end = self.position - self.delimiter.count - Self.lineEnd.count
            if self.limits.acceptsFiles, let fileName = head.fileName {
                let content = Array(self.body[start..<end])
                try fields.add(FormFile(name: head.name, fileName: fileName, content: content))
                continue
            }
            guard let value = String(validating: self.body[start..<end], as: UTF8.self) else {
                throw Self.broken("a part is not UTF-8")
            }
            try fields.add(head.name, value)
        }
    }

    /// Returns the names of the part that begins here, and moves to its content.
    private mutating func head() throws(RequestError) -> (name: String, fileName: String?) {
        let start = self.position
        var disposition: HeaderParameters?
        while true {
            let lineStart = self.position
            guard self.skip(past: Self.lineEnd), self.position - start <= Self.maximumHead else {
                throw Self.broken("the head of a part does not end")
            }
            let line = String(decoding: self.body[lineStart..<self.position - Self.lineEnd.count], as: UTF8.self)
            if line.isEmpty { break }
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw Self.broken("the head of a part is malformed") }
            if parts[0].lowercased() == "content-disposition" { disposition = HeaderParameters(String(parts[1])) }
        }
        guard let name = disposition?["name"], !name.isEmpty else { throw Self.broken("a part has no name") }
        return (name, disposition?["filename"])
    }

    /// Moves behind the next `mark`; `false` if there is none.
    private mutating func skip(past mark: [UInt8]) -> Bool {
        guard mark.count <= self.body.count - self.position, let first = mark.first else { return false }
        var start = self.position
        while let found = self.body[start...].firstIndex(of: first), found + mark.count <= self.body.count {
            if self.body[found..<found + mark.count].elementsEqual(mark) {
                self.position = found + mark.count
                return true
            }
            start = found + 1
        }
        return false
    }

    private static func broken(_ why: String) -> RequestError {
        FormFields.error("invalid_form", "the body is not multipart/form-data: \(why)")
    }
}

/// The parameters of a header field such as `form-data; name="token"` (RFC 9110 section 5.6.6).
struct HeaderParameters: Equatable {
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
