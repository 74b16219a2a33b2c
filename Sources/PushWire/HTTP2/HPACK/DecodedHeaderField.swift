import Foundation

/// A decoded header field, with only the data that one end of the connection uses.
protocol DecodedHeaderField: Sendable {
    associatedtype Name: HeaderFieldName

    var name: Name { get }
    var nameLength: Int { get }
    var valueLength: Int { get }

    /// The fields of the static table (RFC 7541 appendix A), in the order of their indexes, which begin with 1.
    static var fixed: [Self] { get }

    init(name: Name, nameLength: Int, value: UnsafeBufferPointer<UInt8>)
}

extension DecodedHeaderField {
    /// The size of the field in bytes, as it counts in tables and header lists (RFC 7541 section 4.1, RFC 9113 section
    /// 6.5.2).
    var size: Int { self.nameLength + self.valueLength + 32 }

    static func makeFixed() -> [Self] {
        StaticHeaderTable.fields.map { name, value in
            let bytes = Array(name.utf8)
            return Array(value.utf8).withUnsafeBufferPointer { value in
                Self(name: bytes.withUnsafeBufferPointer(Name.init), nameLength: bytes.count, value: value)
            }
        }
    }
}

/// A type of header field names, which distinguishes only the names that one end of the connection uses.
protocol HeaderFieldName: Sendable {
    /// The number of names whose last long literal the decoder stores, because the next one is usually equal.
    static var repeatedNames: Int { get }
    /// The index of this name among the ``repeatedNames``, beginning with 0, or `nil` if it is not one of them.
    var repetition: Int? { get }

    init(_ bytes: UnsafeBufferPointer<UInt8>)
}

/// The header list of a request or a response, with only the fields that one end of the connection uses.
protocol HeaderList {
    associatedtype Field: DecodedHeaderField

    /// The maximum size of a list, in bytes (RFC 9113 section 6.5.2). The peer is told of it. Fields that exceed it are
    /// not added.
    static var maximumSize: Int { get }
    /// The total size of all fields in bytes (RFC 9113 section 6.5.2), including those that were not added.
    var size: Int { get set }

    init()
    mutating func add(_ field: Field)
}

extension HeaderList {
    /// A Boolean value that indicates whether the list exceeds ``maximumSize``, so that fields are missing from it.
    var isTooLong: Bool { self.size > Self.maximumSize }
}

extension UnsafeBufferPointer<UInt8> {
    func spells(_ text: StaticString) -> Bool {
        guard self.count == text.utf8CodeUnitCount, let start = self.baseAddress else { return false }
        return memcmp(start, text.utf8Start, self.count) == 0
    }
}
