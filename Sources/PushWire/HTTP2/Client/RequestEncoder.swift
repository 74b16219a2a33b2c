import NIOCore
import PushTypes

/// Encodes the header blocks of push requests as Apple requires (APNs reference 1.3). Fields that differ in every
/// request are literals, and all other fields are indexed in the server's dynamic table after their first use. The
/// fields that all pushes with the same topic, push type and priority share are encoded only once, in a
/// ``RequestHeaderTemplate``.
struct RequestEncoder {
    /// The maximum number of bytes of the server's dynamic table that are used.
    private static let maximumTableSize = HTTP2Constants.headerTableSize
    /// The maximum number of stored templates. Beyond it, all templates are discarded.
    private static let maximumTemplates = 256

    private static let devicePath = Array(RequestHeaderTemplate.devicePath.utf8)

    let authority: String
    /// The encoded field `authorization`, which is empty if a certificate authenticates the connection.
    private(set) var authorization: [UInt8] = []
    private var table = RequestHeaderTable(limit: Self.maximumTableSize)
    private var templates: [RequestHeaderTemplate.Key: RequestHeaderTemplate] = [:]
    private var lastTemplate: RequestHeaderTemplate?

    /// Creates an encoder for `authority`, the host name, followed by the port if it is not 443.
    init(authority: String) { self.authority = authority }

    /// Sets the provider token for all later requests, or removes it for `nil` if a certificate is used instead.
    mutating func setProviderToken(_ token: String?) {
        self.authorization = []
        guard let token else { return }
        self.authorization.appendInteger(23, prefix: 4, pattern: 0)
        self.authorization.appendString("bearer \(token)")
    }

    mutating func setTableSize(_ size: Int) { self.table.reset(limit: min(size, Self.maximumTableSize)) }

    /// The total size of the fields that every header list contains, in bytes.
    var commonSize: Int { Self.fixedSize + self.authority.utf8.count + self.authorization.count }

    /// Returns an upper bound of the size of the request's header list, in bytes (RFC 9113 section 6.5.2).
    func headerListSize(of push: Push) -> Int {
        let notification = push.notification
        var size = self.commonSize
        size += push.token.bytes.count * 2 + notification.topic.name.utf8.count + notification.id.utf8.count
        if let collapseID = notification.collapseID { size += collapseID.utf8.count }
        for header in push.additionalHeaders { size += header.name.utf8.count + header.value.utf8.count + 32 }
        return size
    }

    /// The size allowed for the names, the overhead and the short values of all fields, in bytes.
    private static let fixedSize = 520

    mutating func encode(_ push: Push, into buffer: inout ByteBuffer) {
        let notification = push.notification
        guard push.additionalHeaders.isEmpty, let template = self.template(for: notification) else {
            return self.encodeField(by: push, into: &buffer)
        }
        let lacksExpiration = notification.expiration != .servicePolicy && template.expirationName == nil
        let lacksCollapseID = notification.collapseID != nil && template.collapseIDName == nil
        if lacksExpiration || lacksCollapseID { return self.encodeField(by: push, into: &buffer) }
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: self.headerListSize(of: push)) { target in
            var block = HeaderBlockWriter(target)
            block.write(template.head)
            block.write(length: RequestHeaderTemplate.devicePath.utf8.count + push.token.bytes.count * 2)
            block.write(Self.devicePath)
            block.write(hexadecimal: push.token.bytes)
            block.write(self.authorization)
            block.write(template.idName)
            block.write(string: notification.id)
            block.write(template.pushType)
            if let name = template.expirationName, let expiration = notification.expiration.header {
                block.write(name)
                block.write(string: expiration)
            }
            block.write(template.tail)
            if let name = template.collapseIDName, let collapseID = notification.collapseID {
                block.write(name)
                block.write(string: collapseID)
            }
            return block.count
        }
    }

    // MARK: Templates

    /// Returns the template for a notification, or `nil` while one of its fields is not in the dynamic table yet.
    private mutating func template(for notification: PushNotification) -> RequestHeaderTemplate? {
        guard !self.table.hasPendingResize else { return nil }
        if let template = self.lastTemplate, template.generation == self.table.generation,
            template.key.matches(notification)
        {
            return template
        }
        let key = RequestHeaderTemplate.Key(notification)
        if let template = self.templates[key], template.generation == self.table.generation {
            self.lastTemplate = template
            return template
        }
        if self.templates.count >= Self.maximumTemplates { self.templates = [:] }
        let template = RequestHeaderTemplate(key: key, authority: self.authority, table: self.table)
        self.templates[key] = template
        self.lastTemplate = template
        return template
    }

    // MARK: Without a template

    /// Appends the header block of `push`, each of whose fields is encoded separately. Fields that later requests
    /// repeat are inserted into the dynamic table.
    private mutating func encodeField(by push: Push, into buffer: inout ByteBuffer) {
        let notification = push.notification
        var replaced = Set(push.additionalHeaders.map(\.name))
        let path = push.additionalHeaders.first { $0.name == HeaderField.path }?.value
        // A broadcast has a request id instead of an `apns-id`, and its path names the app (APNs reference 4.2).
        if path != nil { replaced.formUnion(["apns-id", "apns-topic", "apns-collapse-id"]) }
        var block = self.beginBlock()
        block += RequestHeaderTemplate.methodAndScheme
        block += self.repeated(RequestHeaderTemplate.authority, self.authority)
        block.append(RequestHeaderTemplate.pathName)
        block.appendString(path ?? RequestHeaderTemplate.devicePath + push.token.hex)
        buffer.writeBytes(block)
        if !replaced.contains("authorization") { buffer.writeBytes(self.authorization) }
        var rest: [UInt8] = []
        func add(_ name: String, _ value: String?, _ write: (String, String) -> [UInt8]) {
            if let value, !replaced.contains(name) { rest += write(name, value) }
        }
        add("apns-id", notification.id) { self.named($0, $1) }
        add("apns-push-type", notification.pushType?.rawValue) { self.repeated($0, $1) }
        add("apns-expiration", notification.expiration.header) { self.named($0, $1) }
        add("apns-priority", String(notification.priority.rawValue)) { self.repeated($0, $1) }
        add("apns-topic", notification.topic.name) { self.repeated($0, $1) }
        add("apns-collapse-id", notification.collapseID) { self.named($0, $1) }
        for header in push.additionalHeaders where header.name != HeaderField.path {
            rest.append(0)
            rest.appendString(header.name)
            rest.appendString(header.value)
        }
        buffer.writeBytes(rest)
    }

    /// Returns the dynamic table size updates with which the next header block must begin, if any.
    mutating func beginBlock() -> [UInt8] { self.table.takeResize() }

    /// Returns the encoding of a field whose value later requests repeat. It is indexed if it is in the table, and
    /// otherwise inserted.
    private mutating func repeated(_ name: String, _ value: String) -> [UInt8] {
        if self.table.position(of: name, value) == nil, self.table.hasRoom(for: name, value) {
            return self.inserted(name, value)
        }
        return RequestHeaderTemplate.field(name, value, in: self.table)
    }

    /// Returns the encoding of a field that later requests repeat with other values. It is inserted into the table
    /// once, for its name.
    private mutating func named(_ name: String, _ value: String) -> [UInt8] {
        if self.table.position(of: name) == nil, self.table.hasRoom(for: name, value) {
            return self.inserted(name, value)
        }
        var bytes = RequestHeaderTemplate.name(name, in: self.table)
        bytes.appendString(value)
        return bytes
    }

    private mutating func inserted(_ name: String, _ value: String) -> [UInt8] {
        var bytes: [UInt8] = []
        if let position = RequestHeaderTemplate.staticPosition(of: name) ?? self.table.position(of: name) {
            bytes.appendInteger(position, prefix: 6, pattern: 0x40)
        } else {
            bytes.append(0x40)
            bytes.appendString(name)
        }
        bytes.appendString(value)
        self.table.insert(name, value)
        return bytes
    }
}

/// The encoded sections of the header blocks for pushes with the same topic, push type and priority. Pseudo-headers
/// must precede all other fields (RFC 9113 section 8.3), so the sections are written around `:path` and the literals.
private struct RequestHeaderTemplate {
    /// The properties that all pushes of a template share.
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
    /// The encoded fields `:method POST` and `:scheme https`, which are indexed in the static table.
    static let methodAndScheme: [UInt8] = [0x83, 0x87]
    static let pathName: UInt8 = 0x04

    let key: Key
    /// The generation of the dynamic table to which the encoded indexes refer.
    let generation: Int
    let head: [UInt8]
    let idName: [UInt8]
    let pushType: [UInt8]
    let tail: [UInt8]
    /// The encoded name of `apns-expiration`, or `nil` if the name should first be inserted into the table.
    let expirationName: [UInt8]?
    /// The encoded name of `apns-collapse-id`, or `nil` if the name should first be inserted into the table.
    let collapseIDName: [UInt8]?

    /// Creates the template. Returns `nil` if `table` lacks a field that all its pushes share, but has room for it.
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

    /// Returns the encoding of a name and its value: an index if `table` has both, or else a literal without indexing.
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

    /// Returns the encoding of the beginning of a literal without indexing, up to the value.
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

    /// Returns the static table index of `:authority`, or `nil` for any other name, because no other is looked up.
    static func staticPosition(of name: String) -> Int? { name == Self.authority ? 1 : nil }

    /// Returns the encoding of the beginning of a literal, up to a value of at most 64 bytes. Returns `nil` if the name
    /// should first be inserted into the table.
    private static func preparedName(_ name: String, in table: RequestHeaderTable) -> [UInt8]? {
        let longest = String(repeating: "-", count: PushNotification.maximumCollapseIDLength)
        if table.position(of: name) == nil, table.hasRoom(for: name, longest) { return nil }
        return Self.name(name, in: table)
    }
}

/// The client's copy of the server's dynamic table (RFC 7541 section 2.3.2). Entries are inserted until the table is
/// full, and never evicted. The server's table is small, and the entries are the few fields that every push repeats.
private struct RequestHeaderTable {
    private static let staticCount = 61

    /// A number that changes whenever the indexes of entries change, which makes earlier templates invalid.
    private(set) var generation = 0
    private var limit: Int
    private var used = 0
    private var count = 0
    private var fields: [Field: Int] = [:]
    private var names: [String: Int] = [:]
    /// A Boolean value that indicates whether the next header block must begin with the updates of ``takeResize()``.
    private(set) var hasPendingResize = false

    private struct Field: Hashable {
        var name: String
        var value: String
    }

    init(limit: Int) { self.limit = limit }

    /// Empties the table and sets its maximum size. Both take effect at the start of the next header block.
    mutating func reset(limit: Int) {
        guard limit != self.limit else { return }
        self = Self(limit: limit, generation: self.generation + 1)
    }

    private init(limit: Int, generation: Int) {
        (self.limit, self.generation) = (limit, generation)
        self.hasPendingResize = true
    }

    func position(of name: String, _ value: String) -> Int? {
        self.fields[Field(name: name, value: value)].map(self.position)
    }

    func position(of name: String) -> Int? { self.names[name].map(self.position) }

    func hasRoom(for name: String, _ value: String) -> Bool { self.used + Self.size(name, value) <= self.limit }

    mutating func insert(_ name: String, _ value: String) {
        self.fields[Field(name: name, value: value)] = self.count
        self.names[name] = self.count
        self.used += Self.size(name, value)
        self.count += 1
        self.generation += 1
    }

    /// Returns the dynamic table size updates with which the next header block must begin (RFC 7541 section 4.2). They
    /// are one to zero, which empties the table, and one to the new maximum.
    mutating func takeResize() -> [UInt8] {
        guard self.hasPendingResize else { return [] }
        self.hasPendingResize = false
        var bytes: [UInt8] = [0x20]
        if self.limit > 0 { bytes.appendInteger(self.limit, prefix: 5, pattern: 0x20) }
        return bytes
    }

    private func position(_ insertion: Int) -> Int { Self.staticCount + self.count - insertion }

    private static func size(_ name: String, _ value: String) -> Int { name.utf8.count + value.utf8.count + 32 }
}
