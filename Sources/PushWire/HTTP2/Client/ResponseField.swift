/// A header field of a response, with only the data that the sender uses (APNs reference 1.8).
struct ResponseField: DecodedHeaderField {
    static let fixed = Self.makeFixed()

    /// The names of header fields that the sender distinguishes from one another.
    enum Name: HeaderFieldName {
        case status, id, uniqueID, retryAfter, other

        static var repeatedNames: Int { 0 }
        var repetition: Int? { nil }

        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            switch bytes.count {
            case 7 where bytes.spells(":status"): self = .status
            case 7 where bytes.spells("apns-id"): self = .id
            case 14 where bytes.spells("apns-unique-id"): self = .uniqueID
            case 15 where bytes.spells("apns-request-id"): self = .id
            case 15 where bytes.spells("apns-channel-id"): self = .uniqueID
            case 11 where bytes.spells("retry-after"): self = .retryAfter
            default: self = .other
            }
        }
    }

    let name: Name
    let nameLength: Int
    let valueLength: Int
    /// The value of `:status`, or 0 for another name or an invalid status.
    let number: Int
    /// The value of a name other than `:status`, or `nil` if the sender does not use it.
    let text: String?

    init(name: Name, nameLength: Int, value: UnsafeBufferPointer<UInt8>) {
        (self.name, self.nameLength) = (name, nameLength)
        self.valueLength = value.count
        switch name {
        case .status:
            self.number = Self.status(value)
            self.text = nil
        case .id, .uniqueID, .retryAfter:
            self.number = 0
            self.text = String(decoding: value, as: UTF8.self)
        case .other:
            self.number = 0
            self.text = nil
        }
    }

    /// Parses a status of three digits from 100 to 599. Returns 0 for any other value.
    private static func status(_ value: UnsafeBufferPointer<UInt8>) -> Int {
        guard value.count == 3 else { return 0 }
        var number = 0
        for digit in value {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return 0 }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return (100...599).contains(number) ? number : 0
    }
}

/// The header list of a response.
struct ResponseHeaderList: HeaderList {
    static let maximumSize = 16_384

    var head = ResponseHead()
    var size = 0

    mutating func add(_ field: ResponseField) {
        switch field.name {
        case .status: self.head.status = field.number
        case .id: self.head.id = field.text
        case .uniqueID: self.head.uniqueID = field.text
        case .retryAfter: self.head.retryAfter = field.text
        case .other: break
        }
    }
}
