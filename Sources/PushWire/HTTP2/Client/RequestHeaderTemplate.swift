import PushTypes

/// The prepared pieces of the header blocks of all pushes with one topic, push type and priority.
///
/// Pseudo-headers precede all others (RFC 9113 section 8.3), so the pieces are written around `:path` and the literals.
struct RequestHeaderTemplate {
    /// The properties that the pushes share.
    struct Key: Hashable {
        var topic: Topic
        var pushType: PushType?
        var priority: Priority

        init(_ notification: PushNotification) {
            self.topic = notification.topic
            self.pushType = notification.pushType
            self.priority = notification.priority
        }

        func matches(_ notification: PushNotification) -> Bool {
            self.priority == notification.priority && self.pushType == notification.pushType
                && self.topic == notification.topic
        }
    }

    static let authority = ":authority"
    static let devicePath = "/3/device/"
    /// `:method POST` and `:scheme https` of the static table.
    static let methodAndScheme: [UInt8] = [0x83, 0x87]
    /// A literal without indexing, with its name from the static table.
    static let pathName: UInt8 = 0x04

    let key: Key
    /// The generation of the table that the positions belong to.
    let generation: Int
    /// The fields up to the name of `:path`.
    let head: [UInt8]
    /// The name of `apns-id`.
    let idName: [UInt8]
    let pushType: [UInt8]
    /// The fields of priority and topic.
    let tail: [UInt8]
    /// The name of `apns-expiration`, or `nil` while it is not in the table but has room there.
    let expirationName: [UInt8]?
    /// The name of `apns-collapse-id`, or `nil` while it is not in the table but has room there.
    let collapseIDName: [UInt8]?

    /// Returns `nil` while a field of all its pushes is not in `table`, although that has room for it.
    init?(key: Key, authority: String, table: RequestHeaderTable) {
        var fields = [(Self.authority, authority), ("apns-priority", String(key.priority.rawValue))]
        fields.append(("apns-topic", key.topic.name))
        if let type = key.pushType { fields.append(("apns-push-type", type.rawValue)) }
        for (name, value) in fields where table.position(of: name, value) == nil && table.hasRoom(for: name, value) {
            return nil
        }
        guard let idName = Self.preparedName("apns-id", in: table) else { return nil }
        self.key = key
        self.generation = table.generation
        self.head = Self.methodAndScheme + Self.field(Self.authority, authority, in: table) + [Self.pathName]
        self.idName = idName
        self.pushType = key.pushType.map { Self.field("apns-push-type", $0.rawValue, in: table) } ?? []
        self.tail =
            Self.field("apns-priority", String(key.priority.rawValue), in: table)
            + Self.field("apns-topic", key.topic.name, in: table)
        self.expirationName = Self.preparedName("apns-expiration", in: table)
        self.collapseIDName = Self.preparedName("apns-collapse-id", in: table)
    }

    /// Returns a whole field: its position, or a literal without indexing.
    static func field(_ name: String, _ value: String, in table: RequestHeaderTable) -> [UInt8] {
        var bytes: [UInt8] = []
        if let position = table.position(of: name, value) {
            bytes.appendInteger(position, prefix: 7, pattern: 0x80)
            return bytes
        }
        bytes = Self.name(name, in: table)
        bytes.appendString(value)
        return bytes
    }

    /// Returns the start of a literal without indexing, up to its value.
    static func name(_ name: String, in table: RequestHeaderTable) -> [UInt8] {
        var bytes: [UInt8] = []
        if let position = table.position(of: name) ?? Self.staticPosition(of: name) {
            bytes.appendInteger(position, prefix: 4, pattern: 0)
        } else {
            bytes.append(0)
            bytes.appendString(name)
        }
        return bytes
    }

    /// Returns the position of `:authority`, the only name with one in the static table that is not written directly.
    static func staticPosition(of name: String) -> Int? {
        name == Self.authority ? 1 : nil
    }

    /// Returns the start of a literal whose value has at most 64 bytes, or `nil` while its name should be inserted
    /// first.
    private static func preparedName(_ name: String, in table: RequestHeaderTable) -> [UInt8]? {
        let longest = String(repeating: "-", count: PushNotification.maximumCollapseIDLength)
        if table.position(of: name) == nil, table.hasRoom(for: name, longest) { return nil }
        return Self.name(name, in: table)
    }
}
