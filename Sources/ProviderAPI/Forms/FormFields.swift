import PushSupport

/// The fields of a form, in their order. Names are the same in upper and lower case: the publisher's own samples do not
/// agree on it (reference 10.1).
struct FormFields: Equatable {
    struct Field: Equatable {
        var name: String
        var value: String
    }

    /// Longest body of a form, in bytes.
    static let maximumBody = 64 * 1024
    /// Fields of one form.
    static let maximumCount = 64
    /// Longest name and value, in bytes.
    static let maximumName = 256
    static let maximumValue = 8 * 1024

    private(set) var fields: [Field] = []

    init() {}

    /// The first field with this name; empty text counts.
    subscript(name: String) -> String? {
        self.fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// - Throws: ``RequestError`` for one that is too long, or one too many.
    mutating func add(_ name: String, _ value: String) throws(RequestError) {
        guard self.fields.count < Self.maximumCount else {
            throw Self.refusal("too_many", "a form has at most \(Self.maximumCount) fields")
        }
        guard name.utf8.count <= Self.maximumName, value.utf8.count <= Self.maximumValue else {
            throw Self.refusal("too_long", "a field has at most \(Self.maximumValue) bytes")
        }
        self.fields.append(Field(name: name, value: value))
    }

    mutating func add(_ other: FormFields) throws(RequestError) {
        for field in other.fields { try self.add(field.name, field.value) }
    }

    static func refusal(_ code: String, _ message: String, field: String? = nil) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: field)
    }
}

extension FormFields {
    /// Reads `application/x-www-form-urlencoded`, which a query is too.
    /// - Throws: ``RequestError``.
    init(urlEncoded text: some Sequence<UInt8>) throws(RequestError) {
        self.init()
        for pair in Array(text).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap(Self.decoded),
                let value = parts.count > 1 ? Self.decoded(parts[1]) : ""
            else { throw Self.refusal("invalid_form", "the form is not percent-encoded UTF-8") }
            if name.isEmpty, value.isEmpty { continue }
            try self.add(name, value)
        }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Self.digit), let low = rest.popFirst().flatMap(Self.digit)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
