import PushWire

/// One header field of a reply, as far as it matters.
struct ResponseField: HeaderTableField {
    static let fixed = StaticHeaderTable.fields.map { name, value in
        let name = Array(name.utf8)
        return Self(name: .init(name), nameLength: name.count, value: Array(value.utf8))
    }

    enum Name: Sendable {
        case status, id, uniqueID, retryAfter, other

        init(_ bytes: [UInt8]) {
            switch bytes.count {
            case 7 where bytes.elementsEqual(":status".utf8): self = .status
            case 7 where bytes.elementsEqual("apns-id".utf8): self = .id
            case 14 where bytes.elementsEqual("apns-unique-id".utf8): self = .uniqueID
            case 11 where bytes.elementsEqual("retry-after".utf8): self = .retryAfter
            default: self = .other
            }
        }
    }

    let name: Name
    let nameLength: Int
    let valueLength: Int
    /// Of `:status`, else 0.
    let number: Int
    /// Of the other names that matter.
    let text: String?

    /// RFC 7541 section 4.1.
    var size: Int { self.nameLength + self.valueLength + 32 }

    init(name: Name, nameLength: Int, value: [UInt8]) {
        self.name = name
        self.nameLength = nameLength
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

    func apply(to head: inout ResponseHead) {
        switch self.name {
        case .status: head.status = self.number
        case .id: head.id = self.text
        case .uniqueID: head.uniqueID = self.text
        case .retryAfter: head.retryAfter = self.text
        case .other: break
        }
    }

    /// Three digits from 100 to 599, else 0.
    private static func status(_ value: [UInt8]) -> Int {
        guard value.count == 3 else { return 0 }
        var number = 0
        for digit in value {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return 0 }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return (100...599).contains(number) ? number : 0
    }
}
