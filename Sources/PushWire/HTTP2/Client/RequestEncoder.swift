import NIOCore
import PushTypes

/// Encodes the header blocks of push requests by Apple's rules (reference 1.3): fields that change with every request
/// are literals, all others are in the server's dynamic table after their first use.
///
/// The fields that all pushes of one topic, push type and priority share are prepared once, as a
/// ``RequestHeaderTemplate``.
struct RequestEncoder {
    /// The part of the server's dynamic table that is used, in bytes, even if the server offers more.
    static let maximumTableSize = HTTP2Constants.headerTableSize
    /// The number of templates kept. When there are more, they are made anew.
    private static let maximumTemplates = 256

    private static let devicePath = Array(RequestHeaderTemplate.devicePath.utf8)

    let authority: String
    /// The whole field `authorization`. It is empty with certificate trust.
    private(set) var authorization: [UInt8] = []
    private var table = RequestHeaderTable(limit: Self.maximumTableSize)
    private var templates: [RequestHeaderTemplate.Key: RequestHeaderTemplate] = [:]
    private var lastTemplate: RequestHeaderTemplate?

    /// - Parameter authority: The host name, with the port if it is not 443.
    init(authority: String) {
        self.authority = authority
    }

    /// Sets the provider token of all requests from now on. It is `nil` with certificate trust.
    mutating func setProviderToken(_ token: String?) {
        self.authorization = []
        guard let token else { return }
        self.authorization.appendInteger(23, prefix: 4, pattern: 0)
        self.authorization.appendString("bearer \(token)")
    }

    /// Applies the server's setting `HEADER_TABLE_SIZE`.
    mutating func setTableSize(_ size: Int) {
        self.table.reset(limit: min(size, Self.maximumTableSize))
    }

    /// The size of what all header lists have, in bytes.
    var commonSize: Int { Self.fixedSize + self.authority.utf8.count + self.authorization.count }

    /// Returns an upper bound of the request's header list in bytes (RFC 9113 section 6.5.2).
    func headerListSize(of push: Push) -> Int {
        let notification = push.notification
        var size = self.commonSize
        size += push.token.bytes.count * 2 + notification.topic.name.utf8.count + notification.id.utf8.count
        if let collapseID = notification.collapseID { size += collapseID.utf8.count }
        for header in push.additionalHeaders { size += header.name.utf8.count + header.value.utf8.count + 32 }
        return size
    }

    /// The names, overhead and short values of all fields, in bytes.
    private static let fixedSize = 520

    /// Appends the header block of `push`.
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

    /// Returns the template of a notification, or `nil` while one of its fields is not in the table yet.
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

    /// Writes one field after the other, and inserts those that will be repeated into the table.
    private mutating func encodeField(by push: Push, into buffer: inout ByteBuffer) {
        let notification = push.notification
        var replaced = Set(push.additionalHeaders.map(\.name))
        let path = push.additionalHeaders.first { $0.name == HeaderField.path }?.value
        // A broadcast has a request id instead of an `apns-id`, and its path names the app (reference 4.2).
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

    /// Returns the beginning of a block: a change of the table's size, if one is due.
    mutating func beginBlock() -> [UInt8] { self.table.takeResize() }

    /// Returns a field whose value will be repeated: from the table, or inserted into it.
    private mutating func repeated(_ name: String, _ value: String) -> [UInt8] {
        if self.table.position(of: name, value) == nil, self.table.hasRoom(for: name, value) {
            return self.inserted(name, value)
        }
        return RequestHeaderTemplate.field(name, value, in: self.table)
    }

    /// Returns a field whose name will be repeated with other values: only the first one is inserted into the table.
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
