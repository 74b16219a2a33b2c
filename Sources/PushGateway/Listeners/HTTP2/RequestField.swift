import Foundation
import PushWire

/// One header field of a request, as far as it matters.
struct RequestField: HeaderTableField {
    static let fixed = StaticHeaderTable.fields.map { name, value in
        Self(
            name: Array(name.utf8).withUnsafeBufferPointer(Name.init),
            nameLength: name.utf8.count,
            valueLength: value.utf8.count,
            value: value
        )
    }

    let name: Name
    let nameLength: Int
    let valueLength: Int
    /// Of the names that matter, else empty.
    let value: String

    var size: Int { self.nameLength + self.valueLength + 32 }

    /// The names that mean something in a request (reference 1.4, 1.5 and 4), and those that HTTP/2 has rules for.
    enum Name: UInt8, Sendable {
        // RFC 9113 section 8.3.1.
        case method, path, scheme, authority
        case authorization, pushType, topic, id, expiration, priority, collapseID, channelID, requestID
        case contentLength
        /// Allowed with the value "trailers" only (RFC 9113 section 8.2.2).
        case te
        case other
        /// Of no use in HTTP/2, of unknown pseudo-headers, or with characters that no name has: the request is malformed
        /// (RFC 9113 sections 8.2.1, 8.2.2 and 8.3).
        case malformed

        var isPseudo: Bool { self.rawValue <= Self.authority.rawValue }
        /// Of a pseudo-header: one bit.
        var bit: UInt8 { 1 << self.rawValue }

        /// Whether the value must be kept.
        var hasValue: Bool { self != .other && self != .malformed && self != .authority }

        /// Whether requests of one connection tend to repeat a long value.
        var repeatsLongValue: Bool { self == .authorization || self == .topic }
    }
}

extension RequestField.Name {
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self = Self.known(bytes) ?? (Self.isWellFormed(bytes) ? .other : .malformed)
    }

    private static func known(_ bytes: UnsafeBufferPointer<UInt8>) -> Self? {
        switch bytes.count {
        case 2 where bytes.spells("te"): .te
        case 5 where bytes.spells(":path"): .path
        case 7 where bytes.spells("apns-id"): .id
        case 7 where bytes.spells(":method"): .method
        case 7 where bytes.spells(":scheme"): .scheme
        case 7 where bytes.spells("upgrade"): .malformed
        case 10 where bytes.spells("apns-topic"): .topic
        case 10 where bytes.spells(":authority"): .authority
        case 10 where bytes.spells("connection"): .malformed
        case 10 where bytes.spells("keep-alive"): .malformed
        case 13 where bytes.spells("authorization"): .authorization
        case 13 where bytes.spells("apns-priority"): .priority
        case 14 where bytes.spells("apns-push-type"): .pushType
        case 14 where bytes.spells("content-length"): .contentLength
        case 15 where bytes.spells("apns-expiration"): .expiration
        case 15 where bytes.spells("apns-channel-id"): .channelID
        case 15 where bytes.spells("apns-request-id"): .requestID
        case 16 where bytes.spells("apns-collapse-id"): .collapseID
        case 16 where bytes.spells("proxy-connection"): .malformed
        case 17 where bytes.spells("transfer-encoding"): .malformed
        default: nil
        }
    }

    /// No upper case, no colon, only visible ASCII.
    private static func isWellFormed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return false }
        for byte in bytes {
            if byte <= 0x20 || byte >= 0x7f || byte == UInt8(ascii: ":") { return false }
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) { return false }
        }
        return true
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether these bytes are those of `text`.
    fileprivate func spells(_ text: StaticString) -> Bool {
        guard self.count == text.utf8CodeUnitCount, let start = self.baseAddress else { return false }
        return memcmp(start, text.utf8Start, self.count) == 0
    }

    /// Whether a field value has no control character that HTTP forbids, and no blank at either end (RFC 9113
    /// section 8.2.1).
    var isFieldValue: Bool {
        // Without a branch, so that many bytes are compared at a time.
        var bad: UInt8 = 0
        for byte in self { bad |= (byte == 0 ? 1 : 0) | (byte == 0x0a ? 1 : 0) | (byte == 0x0d ? 1 : 0) }
        guard bad == 0, let first = self.first, let last = self.last else { return bad == 0 }
        return first != 0x20 && first != 0x09 && last != 0x20 && last != 0x09
    }
}
