/// A header field of a request to the provider API, with only the data that the gateway uses.
struct RequestField: DecodedHeaderField {
    static let fixed = Self.makeFixed()

    let name: Name
    let nameLength: Int
    let valueLength: Int
    /// The value of the field, or an empty string if the gateway does not use it.
    let value: String

    init(name: Name, nameLength: Int, value: UnsafeBufferPointer<UInt8>) {
        self.name = value.isFieldValue ? name : .malformed
        self.nameLength = nameLength
        self.valueLength = value.count
        self.value = self.name.hasValue ? String(decoding: value, as: UTF8.self) : ""
    }

    /// The names that the provider API uses (APNs reference 1.4, 1.5 and 4), and those with special rules in HTTP/2.
    enum Name: UInt8, HeaderFieldName {
        // The pseudo-headers of RFC 9113 section 8.3.1.
        case method, path, scheme, authority
        case authorization, pushType, topic, id, expiration, priority, collapseID, channelID, requestID
        case contentLength
        /// The field `te`, whose only allowed value is "trailers" (RFC 9113 section 8.2.2).
        case te
        case other
        /// An invalid field, which makes the request malformed, because it has a name that HTTP/2 forbids, an unknown
        /// pseudo-header, or a name or value with forbidden characters (RFC 9113 sections 8.2.1, 8.2.2 and 8.3).
        case malformed

        var isPseudo: Bool { self.rawValue <= Self.authority.rawValue }
        var bit: UInt8 { 1 << self.rawValue }

        /// A Boolean value that indicates whether the gateway uses the value of this name.
        var hasValue: Bool { self != .other && self != .malformed && self != .authority }

        static var repeatedNames: Int { 2 }

        var repetition: Int? {
            switch self {
            case .authorization: 0
            case .topic: 1
            default: nil
            }
        }
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

    /// Returns whether a name consists of visible ASCII characters without upper-case letters and colons (RFC 9113
    /// section 8.2.1).
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
    /// A Boolean value that indicates whether the bytes contain no NUL, CR or LF, and no whitespace at either end (RFC
    /// 9113 section 8.2.1).
    fileprivate var isFieldValue: Bool {
        // The loop has no branch, so that the compiler can vectorize it.
        var bad: UInt8 = 0
        for byte in self { bad |= (byte == 0 ? 1 : 0) | (byte == 0x0a ? 1 : 0) | (byte == 0x0d ? 1 : 0) }
        guard bad == 0, let first = self.first, let last = self.last else { return bad == 0 }
        return first != 0x20 && first != 0x09 && last != 0x20 && last != 0x09
    }
}

/// The header list of a request, checked against RFC 9113 sections 8.2 and 8.3 and the rules of the provider API.
struct RequestHead: HeaderList {
    static let maximumSize = 8000

    var request = ProviderRequest()
    /// The value of `content-length`, or -1 if it is absent.
    private(set) var contentLength = -1
    /// A Boolean value that indicates whether the fields violate RFC 9113 section 8.2 or 8.3.
    var isMalformed = false
    var size = 0
    /// A bit set of the pseudo-headers that have occurred.
    private(set) var pseudo: UInt8 = 0
    private var hasRegularField = false

    /// A Boolean value that indicates whether the list has the pseudo-headers of a request (RFC 9113 section 8.3.1). A
    /// request with the method CONNECT has neither path nor scheme.
    var isRequest: Bool {
        let path = RequestField.Name.path.bit | RequestField.Name.scheme.bit
        guard self.pseudo & RequestField.Name.method.bit != 0 else { return false }
        if self.pseudo & path == path { return !self.request.path.isEmpty && self.request.method != "CONNECT" }
        return self.pseudo & path == 0 && self.request.method == "CONNECT"
    }

    mutating func add(_ field: RequestField) {
        if field.name.isPseudo {
            if self.hasRegularField || self.pseudo & field.name.bit != 0 { self.isMalformed = true }
            self.pseudo |= field.name.bit
            return self.request.add(field.name, field.value)
        }
        self.hasRegularField = true
        switch field.name {
        case .other: break
        case .malformed: self.isMalformed = true
        case .te: if field.value != "trailers" { self.isMalformed = true }
        case .contentLength: self.addContentLength(field.value)
        default: self.request.add(field.name, field.value)
        }
    }

    private mutating func addContentLength(_ text: String) {
        var length = 0
        for digit in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit), length < 1 << 40 else {
                return self.isMalformed = true
            }
            length = length * 10 + Int(digit - UInt8(ascii: "0"))
        }
        if text.isEmpty || self.contentLength >= 0 && self.contentLength != length { self.isMalformed = true }
        self.contentLength = length
    }
}
