import PushSupport

/// The fields of a form, in their order.
///
/// Names are compared without regard to case, because the publisher's own samples differ in it (reference 10.1).
struct FormFields: Equatable {
    /// A name and a value.
    struct Field: Equatable {
        var name: String
        var value: String
    }

    /// The longest body of a form, in bytes.
    static let maximumBody = 64 * 1024
    /// The most fields of a form.
    static let maximumCount = 64
    /// The longest name, in bytes.
    static let maximumName = 256
    /// The longest value, in bytes.
    static let maximumValue = 8 * 1024

    private(set) var fields: [Field] = []

    init() {}

    /// The value of the first field with this name, which may be empty.
    subscript(name: String) -> String? {
        self.fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// - Throws: ``RequestError`` for a field that is too long, and for too many fields.
    mutating func add(_ name: String, _ value: String) throws(RequestError) {
        guard self.fields.count < Self.maximumCount else {
            throw Self.error("too_many", "a form has at most \(Self.maximumCount) fields")
        }
        guard name.utf8.count <= Self.maximumName, value.utf8.count <= Self.maximumValue else {
            throw Self.error("too_long", "a field has at most \(Self.maximumValue) bytes")
        }
        self.fields.append(Field(name: name, value: value))
    }

    mutating func add(_ other: FormFields) throws(RequestError) {
        for field in other.fields { try self.add(field.name, field.value) }
    }

    static func error(_ code: String, _ message: String, field: String? = nil) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: field)
    }
}

extension FormFields {
    /// Parses `application/x-www-form-urlencoded`, the format of a query too.
    init(urlEncoded text: some Sequence<UInt8>) throws(RequestError) {
        self.init()
        for pair in Array(text).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap(Self.decoded),
                let value = parts.count > 1 ? Self.decoded(parts[1]) : ""
            else { throw Self.error("invalid_form", "the form is not percent-encoded UTF-8") }
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
